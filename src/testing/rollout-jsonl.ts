import type { FixtureFile } from './fixtures.ts';

/** The rows of an advantage fixture (schema `hgpo-advantages/1`) as Rollout JSONL. */
export function fixtureAsJsonl({ nRows, tables, columns }: FixtureFile['data']): string {
  const text = (name: string, row: number) => tables[name]?.[columns[name]?.[row]] as string | undefined;
  let lines = '';
  for (let row = 0; row < nRows; row++) {
    const fields = {
      uid: text('uid', row),
      traj_uid: text('traj', row),
      step: columns.step[row],
      anchor_obs: text('obs', row),
      action: text('action', row),
      reward: columns.reward[row],
      valid: columns.valid?.[row] !== 0,
      token_count: columns.ntok?.[row],
    };
    lines += `${JSON.stringify(fields)}\n`;
  }
  return lines;
}
