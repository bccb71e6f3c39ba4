import { expect, test } from 'vitest';
import { RoomsEnvironment } from './environment.ts';
import { searchingExpertLength } from './generator.ts';
import { Oracle } from './oracle.ts';
import { taskNames } from './types.ts';

// The table of docs/environments.md, over 600 episodes each, every cabinet and drawer with a door: mean / 95th
// percentile / longest of the searching expert, and the mean of the oracle. The generator is exact, so are the figures.
// The means of the prototype that fixed the rules are within 15 %.
const measured = {
  '5 receptacles, 3 objects':
    'pick 4.7/7/11 (4.3), look 4.5/6/10 (3.7), clean 6.8/9/12 (6.4), heat 7.0/9/11 (6.5), cool 7.2/10/11 (6.5), two 8.6/10/12 (8.3)',
  '8 receptacles, 8 objects':
    'pick 5.1/8/13 (4.3), look 5.3/8/14 (3.8), clean 7.4/11/16 (6.5), heat 7.7/13/16 (6.4), cool 7.9/13/16 (6.5), two 9.1/12/16 (8.4)',
  '12 receptacles, 18 objects':
    'pick 5.5/10/19 (4.3), look 6.2/10/18 (3.9), clean 7.9/14/20 (6.5), heat 8.8/17/21 (6.5), cool 7.8/13/21 (6.3), two 9.7/14/21 (8.4)',
  '20 receptacles, 30 objects':
    'pick 6.8/16/30 (4.3), look 7.8/13/32 (4.0), clean 8.8/20/34 (6.5), heat 10.9/27/36 (6.4), cool 10.2/26/35 (6.4), two 10.9/18/32 (8.4)',
};
const prototype = [
  [5.1, 4.4, 7.1, 7.3, 7.2, 9.1],
  [5.7, 4.8, 7.6, 8.0, 7.8, 9.7],
  [6.2, 5.8, 8.4, 9.2, 8.9, 10.5],
  [7.9, 7.1, 10.0, 10.8, 10.5, 12.6],
];

test.each(Object.entries(measured).map(([size, expected], i) => [size, expected, prototype[i]!] as const))(
  'lengths of the experts at %s',
  (size, expected, means) => {
    const [receptacles, objects] = size.match(/\d+/g)!.map(Number);
    const environment = new RoomsEnvironment();
    const cells = taskNames.map((task, t) => {
      const lengths: number[] = [];
      let oracle = 0;
      for (let i = 0; i < 600; i++) {
        environment.reset(2 * i, task, { receptacles: receptacles!, objects: objects!, openableShare: 1 });
        lengths.push(searchingExpertLength(environment.hidden.room));
        oracle += new Oracle(environment.hidden).distance();
      }
      lengths.sort((a, b) => a - b);
      const mean = lengths.reduce((sum, length) => sum + length, 0) / 600;
      expect(Math.abs(mean / means[t]! - 1)).toBeLessThan(0.15);
      return `${task} ${mean.toFixed(1)}/${lengths[569]}/${lengths[599]} (${(oracle / 600).toFixed(1)})`;
    });
    expect(cells.join(', ')).toBe(expected);
  },
);
