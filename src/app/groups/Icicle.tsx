import { useState } from 'react';
import { depthPaint } from '../chart/colour.ts';
import { useWidth } from '../chart/use-width.ts';
import { count, number } from '../number.ts';
import type { Task } from '../rollouts/task.ts';
import { Fold } from '../shell/Fold.tsx';
import { useTexts } from '../text/language.ts';
import type { GroupLine } from './group-table.ts';
import type { GroupNode } from './hierarchy.ts';
import './Icicle.css';

interface IcicleProps {
  readonly task: Task;
  readonly root: GroupNode;
  /** The root and everything below it, each before its parts. */
  readonly lines: readonly GroupLine[];
  readonly sizes: readonly number[];
  /** K of the settings: the levels that are drawn even where the tree ends earlier. */
  readonly deepest: number;
  readonly success: (row: number) => boolean | null;
  readonly onHoverRow: (row: number) => void;
  readonly onChooseRow: (row: number) => void;
}

const gutter = 34;
const taskHeight = 18;
const fan = 12;

/** The groups of the chosen step, levels downwards, width by members, each split named by the state that makes it. */
export function Icicle(props: IcicleProps) {
  const { task, root, lines, deepest, success } = props;
  const all = useTexts();
  const texts = all.group;
  const [box, width] = useWidth<HTMLDivElement>(340);
  const [hovered, hover] = useState<GroupNode | null>(null);

  const level = deepest <= 2 ? 52 : deepest <= 4 ? 42 : deepest <= 6 ? 34 : 27;
  const across = Math.max(80, width - gutter - 1);
  const unit = across / root.members.length;
  const top = taskHeight + fan;
  const height = top + level * (deepest + 1);

  const boxes: { node: GroupNode; x: number }[] = [];
  const place = (node: GroupNode, x: number) => {
    boxes.push({ node, x });
    let at = x;
    for (const child of node.children) {
      place(child, at);
      at += child.members.length * unit;
    }
  };
  place(root, gutter);

  // What is under the pointer may be of a hierarchy that is gone.
  const told = lines.find(({ node }) => node === hovered) ?? lines.findLast(({ node }) => node.holdsChosen)!;
  const taskShare = (root.members.length / task.rowCount) * across;

  return (
    <div className="icicle" ref={box}>
      <svg width={width} height={height} role="img" aria-label={texts.icicle(props.sizes)}>
        <rect className="icicle-task" x={gutter} y={0.5} width={across} height={taskHeight - 1} />
        <rect
          x={gutter}
          y={0.5}
          width={Math.max(1.5, taskShare)}
          height={taskHeight - 1}
          style={{ fill: depthPaint(0, deepest).fill }}
        />
        <text
          className="icicle-task-text"
          x={gutter + Math.max(1.5, taskShare) + 6}
          y={taskHeight / 2}
          dominantBaseline="central"
        >
          {texts.taskBand(root.members.length, task.rowCount)}
        </text>
        <path
          className="icicle-fan"
          d={`M${gutter} ${taskHeight} V${top} M${gutter + Math.max(1.5, taskShare)} ${taskHeight} L${gutter + across} ${top}`}
        />
        {Array.from({ length: deepest + 1 }, (_, k) => (
          <text
            key={k}
            className="icicle-level"
            x={gutter - 8}
            y={top + k * level + level / 2}
            textAnchor="end"
            dominantBaseline="central"
          >
            G
            <tspan dy="3" fontSize="9">
              {k}
            </tspan>
          </text>
        ))}
        {boxes.map(({ node, x }) => {
          const w = node.members.length * unit;
          const y = top + node.level * level;
          const letter = task.places.get(node.splitBy)?.letter;
          const paint = node.holdsChosen ? depthPaint(node.level, deepest) : undefined;
          return (
            <g
              key={`${node.level}-${node.members[0]}`}
              className="icicle-node"
              style={{ color: paint?.text }}
              onPointerEnter={() => {
                hover(node);
                props.onHoverRow(node.members[0]!);
              }}
              onPointerLeave={() => {
                hover(null);
                props.onHoverRow(-1);
              }}
              onClick={() => {
                props.onChooseRow(node.members[0]!);
              }}
            >
              <rect
                x={x + 0.5}
                y={y + 0.5}
                width={Math.max(1, w - 1)}
                height={level - 1}
                style={paint && { fill: paint.fill }}
              />
              {w > 22 && (
                <text
                  x={x + 7}
                  y={y + (level > 30 ? 14 : level / 2)}
                  dominantBaseline="central"
                  className="icicle-size"
                >
                  {count(node.members.length)}
                  {w > 44 && node.level > 0 && (
                    <tspan className="icicle-split">
                      {'  '}
                      {node.splitBy < 0 ? (w > 130 ? texts.began : '') : letter}
                    </tspan>
                  )}
                </text>
              )}
              {level > 30 && <Members node={node} x={x} y={y + level - 12} unit={unit} success={success} />}
            </g>
          );
        })}
      </svg>
      <p className="icicle-told small" aria-live="polite">
        {texts.node(told.node.level, told.node.members.length, told.split)}, {texts.meanReturn(told.mean)}
      </p>
      <p className="soft small">{texts.successKey}</p>
      <Fold name="groups" className="icicle-table small" summary={all.table.show}>
        <table>
          <thead>
            <tr>
              {texts.table.map((name) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {lines.map(({ node, split, successes, mean }) => (
              <tr key={`${node.level}-${node.members[0]}`}>
                <th scope="row">
                  G<sub>{node.level}</sub>
                </th>
                <td>{count(node.members.length)}</td>
                <td>{split}</td>
                <td>{count(successes)}</td>
                <td>{number(mean)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Fold>
    </div>
  );
}

/** One disc for each member: filled where its trajectory succeeded. Left out where there is no room to tell them apart. */
function Members(props: {
  readonly node: GroupNode;
  readonly x: number;
  readonly y: number;
  readonly unit: number;
  readonly success: (row: number) => boolean | null;
}) {
  const radius = Math.min(3.5, props.unit / 2 - 1);
  if (radius < 1.5) return null;
  return props.node.members.map((row, index) => (
    <circle
      key={row}
      className={props.success(row) === true ? 'icicle-member icicle-member-success' : 'icicle-member'}
      cx={props.x + (index + 0.5) * props.unit}
      cy={props.y}
      r={radius}
    />
  ));
}
