import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { methodNames, type MethodName } from '../../estimators/registry.ts';
import { environmentNames, presetNames, resolveSettings } from '../../estimators/settings.ts';
import published from './verl-agent-keys.json' with { type: 'json' };
import { ClusterExportError, overridesOf, verlAgentScript } from './verl-agent.ts';

const launchable = methodNames.filter((method) => method !== 'progpo');
const script = (method: string, options: Record<string, unknown> = {}, preset = 'reference', environment = 'rooms') =>
  verlAgentScript({
    settings: resolveSettings({ method, preset, environment, options }),
    memory: Number(options.K ?? 2),
    seed: 0,
  });

test('every override of every method, preset and environment is a key of the public scripts', () => {
  const known = new Set(published.keys);
  for (const method of launchable)
    for (const preset of presetNames)
      for (const environment of environmentNames) {
        for (const key of overridesOf(script(method, {}, preset, environment)).keys()) {
          expect(known, `${method} ${preset} ${environment}`).toContain(key);
        }
      }
});

test('the reference preset launches the public runs with their values', () => {
  for (const { method, environment, values } of published.runs) {
    const overrides = overridesOf(script(method, {}, 'reference', environment));
    for (const [key, value] of Object.entries(values)) {
      expect(`${key}=${numeric(overrides.get(key))}`, `${method} ${environment}`).toBe(`${key}=${numeric(value)}`);
    }
  }
});

// 1e-5 and 0.00001 are the same learning rate.
function numeric(text: string | undefined): string {
  return text !== undefined && text !== '' && Number.isFinite(Number(text)) ? String(Number(text)) : String(text);
}

test('what the playground chose for the method is carried over', () => {
  const overrides = overridesOf(
    script('hgpo', { alpha: 0.5, K: 4, gamma: 0.9, clipHigh: 0.3, mode: 'mean_norm', klForm: 'k2', invalidPenalty: 0 }),
  );
  expect(overrides.get('algorithm.hgpo.length_weight_alpha')).toBe('0.5');
  expect(overrides.get('env.history_length')).toBe('4');
  expect(overrides.get('algorithm.gamma')).toBe('0.9');
  expect(overrides.get('actor_rollout_ref.actor.clip_ratio_high')).toBe('0.3');
  expect(overrides.get('algorithm.hgpo.mode')).toBe('mean_norm');
  expect(overrides.get('actor_rollout_ref.actor.kl_loss_type')).toBe('mse');
  expect(overrides.get('actor_rollout_ref.actor.use_invalid_action_penalty')).toBe('False');
});

test('a toy learning rate does not reach the cluster, and the script says so', () => {
  const text = script('grpo', { learningRate: 3e-4 });
  expect(overridesOf(text).get('actor_rollout_ref.actor.optim.lr')).toBe('0.000001');
  expect(text).toContain("the toy's 0.0003");
});

test('the paper preset names each way in which verl-agent differs from it', () => {
  const text = script('hgpo', {}, 'paper');
  expect(text).toMatch(/# Differs: weightOffset is 1 here; in verl-agent level weights are \(k \+ 2\)\^alpha/);
  expect(text).toMatch(/# Differs: shortContext is "prefix" here/);
  expect(script('grpo', {}, 'paper')).toMatch(/# Differs: crossSteps is false here/);
  expect(script('hgpo', {}, 'reference')).not.toMatch(/weightOffset/);
});

test('a group depth unlike the memory is named, because the recipe cannot separate them', () => {
  const settings = resolveSettings({ method: 'hgpo', options: { K: 4 } });
  expect(verlAgentScript({ settings, memory: 2, seed: 0 })).toContain('K is 4 with a memory of 2 here');
});

test('a method without public code is refused with what to do instead', () => {
  expect(() => script('progpo')).toThrow(ClusterExportError);
  expect(() => script('hgpo', { variant: 'oracle_only' })).toThrow(/no public code/);
});

test.skipIf(process.platform === 'win32')('bash reads every script', () => {
  for (const method of launchable satisfies MethodName[]) {
    for (const environment of environmentNames) {
      execFileSync('bash', ['-n'], { input: script(method, {}, 'paper', environment) });
    }
  }
});
