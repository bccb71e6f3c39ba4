import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { rolloutBatch, type RolloutRow } from './batch.ts';
import { readRollouts, UnknownDialectError } from './dialects.ts';
import { reportSentences, type ImportResult } from './import.ts';
import { writeJsonl } from './jsonl.ts';
import { jsonObservation, observationText, textObservation } from './observation.ts';

const runs = process.env.HGPO_LONG ? 20_000 : 300;

const read = (text: string | Uint8Array, keepSource = false) =>
  readRollouts([typeof text === 'string' ? new TextEncoder().encode(text) : text], { keepSource });

const line = (fields: Record<string, unknown> = {}) =>
  JSON.stringify({
    uid: 'u',
    traj_uid: 't',
    step: 0,
    anchor_obs: 'room',
    action: 'look',
    reward: 1,
    valid: true,
    ...fields,
  });
const file = (...lines: string[]) => lines.map((text) => `${text}\n`).join('');

/** The reason of each row of the file, null where it was accepted. */
const reasons = ({ rows }: ImportResult) =>
  Array.from(rows.batchRow, (batchRow, i) => (batchRow === -1 ? rows.refused.get(i)!.reason : null));

describe('Rollout JSONL', () => {
  it('fills the columns from the fields of the contract', async () => {
    const { batch, rows, report } = await read(
      file(
        line({ step: 1, reward: 0.5, valid: 0, success: true, log_prob: -2, value: 3, prompt: 'p', state_key: 7 }),
        line({ task_type: 'heat', episode_id: 'e', prompt_key: 'k', token_count: 4, episode_reward: 1.5 }),
      ),
    );
    expect([...batch.step]).toEqual([1, 0]);
    expect([...batch.byStep]).toEqual([1, 0]);
    expect([...batch.reward]).toEqual([0.5, 1]);
    expect([...batch.valid]).toEqual([0, 1]);
    expect([...batch.success!]).toEqual([1, 2]);
    expect([...batch.logProb!]).toEqual([-2, NaN]);
    expect([...batch.tokenCount!]).toEqual([1, 4]);
    expect(batch.stateKeys.values).toEqual(['7']);
    expect([...rows.line]).toEqual([1, 2]);
    expect(report).toMatchObject({ rows: 2, acceptedRows: 2, acceptedTrajectories: 1, notes: [], defective: [] });
  });

  it('reads a file with byte order mark, CRLF and blank lines like one without', async () => {
    const plain = await read(file(line(), line({ step: 1 })));
    const other = await read(`\ufeff\r\n${line()}\r\n\r\n  ${line({ step: 1 })}  \r\n\r\n`);
    expect(other.batch).toEqual(plain.batch);
    expect(other.report).toMatchObject({ lines: 5, blankLines: 3, rows: 2, unreadable: [] });
    expect([...other.rows.line]).toEqual([2, 4]);
  });

  it('compares a JSON observation by its value and never takes it for a text that spells it', async () => {
    const observations = [
      '{"b":1.0,"a":[2]}',
      '{"a":[2e0],"b":1}',
      '"{\\"a\\":[2],\\"b\\":1}"',
      'null',
      '"null"',
      '""',
    ];
    const { batch } = await read(file(...observations.map((text, step) => line({ step }).replace('"room"', text))));
    expect([...batch.observation]).toEqual([0, 0, 1, 2, 3, 4]);
    expect(batch.observations.values.map(observationText)).toEqual([
      '{"a":[2],"b":1}',
      '{"a":[2],"b":1}',
      'null',
      'null',
      '',
    ]);
  });

  it('takes optional fields that are null as not said', async () => {
    const { batch, report } = await read(file(line({ success: null, prompt: null, value: null })));
    expect([batch.success, batch.prompt, batch.value]).toEqual([null, null, null]);
    expect(report.notes).toEqual([]);
  });

  it('reads integer ids as their digits, all of them', async () => {
    const { batch } = await read(file(line().replace('"u"', '9007199254740993').replace('"t"', '-0')));
    expect([batch.tasks.values, batch.trajectories.values]).toEqual([['9007199254740993'], ['0']]);
  });

  it('accepts a file whose rows all lack the action, and refuses a single row that does', async () => {
    const without = (step: number) => line({ step, action: undefined });
    const all = await read(file(without(0), without(1)));
    expect(all.batch.rowCount).toBe(2);
    expect(all.report.notes).toMatchObject([{ count: 2, lines: [1, 2] }]);
    const one = await read(file(line(), without(1), line({ traj_uid: 'other' })));
    expect(reasons(one)).toEqual([
      'its trajectory is incomplete: line 2: `action` is missing',
      '`action` is missing',
      null,
    ]);
    expect(one.report.refused).toMatchObject([{ trajectory: 't', rows: 2, line: 1 }]);
  });

  it('knows its dialects by name', async () => {
    await expect(readRollouts([], { dialect: 'parquet' })).rejects.toThrow(UnknownDialectError);
  });
});

describe('a defective row', () => {
  it.each([
    ['reward as text', { reward: '1' }, '`reward` is a string, not a finite number'],
    ['no reward', { reward: undefined }, '`reward` is missing'],
    ['reward null', { reward: null }, '`reward` is null, not a finite number'],
    ['a boolean reward', { reward: true }, '`reward` is a boolean, not a finite number'],
    ['a negative step', { step: -1 }, '`step` is not a whole number from 0 to 2147483647'],
    ['a fractional step', { step: 0.5 }, '`step` is not a whole number from 0 to 2147483647'],
    ['a huge step', { step: 2 ** 31 }, '`step` is not a whole number from 0 to 2147483647'],
    ['a step as text', { step: '0' }, '`step` is a string, not a finite number'],
    ['valid as text', { valid: 'true' }, '`valid` is a string, not true or false'],
    ['valid beyond 1', { valid: 2 }, '`valid` is a number other than 0 and 1'],
    ['no valid', { valid: undefined }, '`valid` is missing'],
    ['no observation', { anchor_obs: undefined }, '`anchor_obs` is missing'],
    ['an action list', { action: ['look'] }, '`action` is a list, not a string'],
    ['an id object', { uid: {} }, '`uid` is an object, not a string or an integer'],
    ['a fractional id', { uid: 1.5 }, '`uid` is a number, not a string or an integer'],
  ])('(%s) is refused with its whole trajectory, and the others stay', async (_, fields, reason) => {
    const result = await read(file(line({ traj_uid: 'good' }), line({ step: 1 }), line(fields), line({ step: 2 })));
    const consequence = `its trajectory is incomplete: line 3: ${reason}`;
    expect(reasons(result)).toEqual([null, consequence, reason, consequence]);
    expect(result.rows.refused.get(2)).toMatchObject({ trajectory: 't' });
    expect(result.report.defective).toEqual([{ reason, count: 1, lines: [3] }]);
    expect(result.report.refused).toMatchObject([{ trajectory: 't', task: 'u', rows: 3, line: 2 }]);
  });

  it.each([
    ['NaN', '`reward` is NaN, not a finite number'],
    ['-Infinity', '`reward` is infinite, not a finite number'],
    ['1e999', '`reward` is too large to compute with (beyond ±1e+150)'],
    ['-1e151', '`reward` is too large to compute with (beyond ±1e+150)'],
  ])('with reward %s is refused', async (word, reason) => {
    const result = await read(file(line().replace('"reward":1', `"reward":${word}`)));
    expect(reasons(result)).toEqual([reason]);
  });

  it('that gives a field twice is refused, however the key is spelt', async () => {
    const twice = line().replace('{', '{"rewar\\u0064":0,');
    expect(reasons(await read(file(twice)))).toEqual(['`reward` is given twice']);
  });

  it('without a trajectory id is counted, with a note on what its loss may hide', async () => {
    const { report } = await read(file(line(), line({ step: 1, traj_uid: undefined })));
    expect(report).toMatchObject({ acceptedRows: 1, defective: [{ lines: [2] }], notes: [{ lines: [2] }] });
  });

  it('nested beyond all reason is refused without exhausting the stack', async () => {
    const deep = '['.repeat(200_000) + ']'.repeat(200_000);
    expect(reasons(await read(file(line().replace('"room"', deep))))).toEqual(['`anchor_obs` is nested too deeply']);
    const elsewhere = await read(file(line().replace('{', `{"extra":${deep},`)));
    expect(reasons(elsewhere)).toEqual([null]);
  });
});

describe('an optional or unknown field', () => {
  it.each([
    [{ success: 'yes' }, 'optional field not used: `success` is a string, not true or false'],
    [{ prompt: [] }, 'optional field not used: `prompt` is a list, not a string'],
    [{ token_count: 0 }, 'optional field not used: `token_count` is not a whole number from 1 to 2147483647'],
    [{ episode_reward: 5 }, '`episode_reward` is not the sum of the rewards of its trajectory: the sum is used'],
  ])('that is wrong (%j) leaves the row good and is noted', async (fields, reason) => {
    const result = await read(file(line(fields)));
    expect(reasons(result)).toEqual([null]);
    expect(result.report.notes).toEqual([{ reason, count: 1, lines: [1] }]);
  });

  it('may be NaN, be called __proto__ or be there twice when unknown', async () => {
    const odd = line().replace('{', '{"x":NaN,"x":-Infinity,"__proto__":{"reward":9},"constructor":null,');
    const { batch, report, source } = await read(file(odd), true);
    expect([...batch.reward]).toEqual([1]);
    expect(report.notes).toEqual([]);
    expect(source).toEqual([odd]);
  });
});

describe('an incomplete trajectory', () => {
  it.each([
    ['a missing step', [line(), line({ step: 2 })], 'step 1 is missing (its last is 2)'],
    ['no first step', [line({ step: 1 })], 'step 0 is missing (its last is 1)'],
    ['a step twice', [line(), line({ step: 1 }), line({ step: 1 })], 'step 1 is there twice'],
    ['two tasks', [line(), line({ step: 1, uid: 'v' })], 'its rows name two tasks, "u" and "v"'],
    ['a broken line that names it', [line(), line({ step: 1 }).slice(0, -5), line()], 'line 2 is not JSON'],
    ['a line that is not UTF-8', [line(), `${line({ step: 1 })}\u00ff`], 'line 2 is not valid UTF-8'],
  ])('(%s) is refused and named, and the others stay', async (_, lines, reason) => {
    // Latin-1 bytes: what is ASCII is the same in UTF-8, and ÿ is not UTF-8.
    const result = await read(Uint8Array.from(file(...lines, line({ traj_uid: 'good' })), (c) => c.charCodeAt(0)));
    expect(result.batch.trajectories.values).toEqual(['good']);
    expect(result.report.refused).toMatchObject([{ trajectory: 't', reason }]);
    expect(result.report.refusedTrajectories).toBe(1);
  });

  it('shows as a broken last line when the file was cut off', async () => {
    const { report } = await read(file(line()) + line({ step: 1 }).slice(0, 20));
    expect(report.unreadable[0]!.reason).toContain('cut off');
    expect(reportSentences(report)).toEqual(
      expect.arrayContaining([expect.stringContaining('1 line: not JSON (the last line')]),
    );
  });

  it('keeps the list of line numbers short and the count whole', async () => {
    const { report } = await read(file(...Array.from({ length: 50 }, () => '{oops')));
    expect(report.unreadable).toMatchObject([{ count: 50, lines: { length: 20 } }]);
    expect(reportSentences(report)[1]).toMatch(/^50 lines: not JSON \(lines 1, 2, .*20, …\)\.$/);
  });
});

const text = fc.string({ unit: 'binary', maxLength: 8 });
const row = fc.record(
  {
    observation: fc.oneof(
      text.map(textObservation),
      fc.constant(jsonObservation('{"a":[1,"x"]}')),
      text.map((one) => textObservation(`\u0000${one}`)),
    ),
    action: text,
    reward: fc.double({ noNaN: true, min: -1e150, max: 1e150 }),
    valid: fc.boolean(),
    prompt: text,
    logProb: fc.double({ noNaN: true, min: -1e150, max: 1e150 }),
    value: fc.double({ noNaN: true, min: -1e150, max: 1e150 }),
    tokenCount: fc.integer({ min: 1, max: 9 }),
    taskType: text,
    promptKey: text,
    stateKey: text,
    episodeId: text,
    success: fc.boolean(),
  },
  { requiredKeys: ['observation', 'action', 'reward', 'valid'] },
);
const rollouts: fc.Arbitrary<RolloutRow[]> = fc
  .uniqueArray(fc.tuple(text, fc.array(row, { minLength: 1, maxLength: 4 })), {
    selector: ([name]) => name,
    maxLength: 4,
  })
  .chain((trajectories) =>
    fc.tuple(
      fc.constant(trajectories),
      fc.array(text, { minLength: trajectories.length, maxLength: trajectories.length }),
    ),
  )
  .map(([trajectories, tasks]) =>
    trajectories.flatMap(([trajectory, rows], t) =>
      rows.map((one, step) => ({ ...one, task: tasks[t]!, trajectory, step }) as RolloutRow),
    ),
  );

describe('writing', () => {
  it('and reading gives the same batch', async () => {
    await fc.assert(
      fc.asyncProperty(rollouts, async (rows) => {
        const batch = rolloutBatch(rows);
        const again = await read([...writeJsonl(batch)].join(''));
        expect(again.report.defective).toEqual([]);
        expect(again.batch).toEqual(batch);
      }),
      { numRuns: Math.min(runs, 2000) },
    );
  });

  it('gives untouched rows back byte for byte: unknown fields, key order, number spelling', async () => {
    const odd = [
      '{ "big": 123456789012345678901234567890, "step": 0.0, "traj_uid":"t", "uid": 3,"reward":1e3, "valid" : 1,\t"action":"\\u0061","anchor_obs":{"b":1.0,"a":NaN}, "__proto__": []}',
      `${line({ step: 1 })}\r`,
      line({ traj_uid: 'lone \ud800', extra: '\u2028é' }),
    ];
    const { batch, source } = await read(file(...odd).replace('"uid":"u"', '"uid":"3"'), true);
    expect(batch.rowCount).toBe(3);
    expect([...writeJsonl(batch, source)].join('')).toBe(file(...odd).replace('"uid":"u"', '"uid":"3"'));
  });

  it('refuses a number that JSON cannot say', () => {
    const batch = rolloutBatch([
      { task: 'u', trajectory: 't', step: 0, observation: '', action: '', reward: Infinity, valid: true },
    ]);
    expect(() => [...writeJsonl(batch)]).toThrow('JSON cannot say that `reward` is Infinity');
  });
});

describe('hostile files', () => {
  /** What must hold of every import, whatever the file is. */
  async function expectAccounted(bytes: Uint8Array): Promise<ImportResult> {
    const result = await read(bytes, true);
    const { batch, rows, report, source } = result;
    const sum = (counts: readonly { count: number }[]) => counts.reduce((total, { count }) => total + count, 0);
    expect(report.blankLines + sum(report.unreadable) + report.rows).toBe(report.lines);
    expect(rows.count).toBe(report.rows);
    expect(rows.refused.size + batch.rowCount).toBe(rows.count);
    expect([...rows.batchRow].filter((i) => i !== -1)).toEqual([...batch.task.keys()]);
    expect(report.acceptedTrajectories).toBe(batch.trajectories.size);
    expect(source).toHaveLength(batch.rowCount);
    for (const reward of batch.reward) expect(Number.isFinite(reward)).toBe(true);
    return result;
  }

  const value = fc.oneof(
    fc.constantFrom(
      'NaN',
      '-Infinity',
      '1e999',
      '-0',
      '1.0',
      '01',
      '"',
      '"a',
      '{}',
      '[]',
      'null',
      'true',
      '0',
      '"t"',
      '"u"',
      '',
    ),
    fc.json({ maxDepth: 2 }),
  );
  const key = fc.constantFrom(
    'uid',
    'traj_uid',
    'step',
    'anchor_obs',
    'action',
    'reward',
    'valid',
    'success',
    '__proto__',
    'x',
  );
  const edit = fc.tuple(key, value);
  // A good line with a few fields overwritten or appended, and perhaps cut.
  const hostileLine = fc
    .record({
      step: fc.integer({ min: 0, max: 2 }),
      edits: fc.array(edit, { maxLength: 2 }),
      cut: fc.option(fc.nat(120), { freq: 6 }),
    })
    .map(({ step, edits, cut }) => {
      let made = line({ step });
      for (const [name, json] of edits) made = `${made.slice(0, -1)},${JSON.stringify(name)}:${json}}`;
      return cut === null ? made : made.slice(0, cut);
    });

  it('never crash and never lose a line: broken fields', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(hostileLine, { maxLength: 8 }), async (lines) => {
        await expectAccounted(new TextEncoder().encode(lines.join('\n')));
      }),
      { numRuns: runs },
    );
  });

  it('never crash and never lose a line: bytes overwritten anywhere', async () => {
    const good = new TextEncoder().encode(
      file(line(), line({ step: 1 }), line({ traj_uid: 'x', anchor_obs: { a: [1] } })),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(fc.nat(good.length - 1), fc.nat(255)), { maxLength: 4 }), async (hits) => {
        const bytes = good.slice();
        for (const [at, byte] of hits) bytes[at] = byte;
        await expectAccounted(bytes);
      }),
      { numRuns: runs },
    );
  });

  it('never crash and never lose a line: any bytes at all', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 64 }), async (bytes) => {
        fc.pre(!(bytes[0] === 0x1f && bytes[1] === 0x8b) && !(bytes[0]! >= 0xfe && bytes[1]! >= 0xfe));
        await expectAccounted(bytes);
      }),
      { numRuns: runs },
    );
  });
});
