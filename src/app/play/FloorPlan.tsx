import { useWidth } from '../chart/use-width.ts';
import type { HiddenView, RoomsEvent } from '../../workers/views.ts';
import { useTexts } from '../text/language.ts';
import { knownRoom } from './known-room.ts';
import './FloorPlan.css';

interface FloorPlanProps {
  /** Everything seen from the start to now. */
  readonly events: readonly RoomsEvent[];
  /** The hidden state, where the viewer asked for it. */
  readonly hidden: Extract<HiddenView, { environment: 'rooms' }> | null;
  readonly admissible: readonly string[];
  readonly onAct: (command: string) => void;
}

interface DrawnReceptacle {
  readonly name: string;
  readonly door: 'open' | 'shut' | null;
  /** Null = not known. */
  readonly objects: readonly string[] | null;
}

const boxHeight = 88;
const corridor = 38;
const shown = 4;

/** The room from above: receptacles along two walls, doors, what lies where, the agent in the corridor with its hand. */
export function FloorPlan({ events, hidden, admissible, onAct }: FloorPlanProps) {
  const texts = useTexts().play;
  const [box, width] = useWidth<HTMLDivElement>(560);
  const known = knownRoom(events);
  const plan = hidden?.plan;
  const receptacles: readonly DrawnReceptacle[] = plan
    ? plan.receptacles
    : known.receptacles.map(({ name, door, objects }) => ({ name, door: door === 'surface' ? null : door, objects }));
  const at = plan ? plan.at : known.at;
  const hand = plan ? plan.hand : known.hand;
  const properties = new Map(
    plan?.objects.map(({ name, properties: own, lit }) => [name, [...own, ...(lit ? ['lit'] : [])]]),
  );
  const named = (object: string) => {
    const own = properties.get(object);
    return own && own.length > 0 ? `${object} (${own.join(', ')})` : object;
  };

  const perRow = Math.max(2, Math.min(Math.ceil(receptacles.length / 2), Math.floor(width / 96)));
  const rows = Math.ceil(receptacles.length / perRow);
  const boxWidth = width / perRow;
  // Rows stand in pairs with a corridor between them.
  const yOf = (row: number) =>
    Math.floor(row / 2) * (2 * boxHeight + corridor + 8) + (row % 2) * (boxHeight + corridor);
  const height = yOf(rows - 1) + boxHeight + (rows % 2 === 1 ? corridor : 0) + 2;
  const placed = receptacles.map((receptacle, index) => {
    const row = Math.floor(index / perRow);
    return { ...receptacle, x: (index % perRow) * boxWidth, y: yOf(row), above: row % 2 === 0 };
  });
  const here = placed.find(({ name }) => name === at);
  const agent = here
    ? { x: here.x + boxWidth / 2, y: here.above ? here.y + boxHeight + 14 : here.y - 14 }
    : { x: width / 2, y: boxHeight + corridor / 2 };
  const sentence = texts.planSentence(at, hand);

  return (
    <div ref={box} className="floor-plan">
      <svg width={width} height={height} role="img" aria-label={sentence}>
        {placed.map(({ name, door, objects, x, y, above }) => {
          const command = `go to ${name}`;
          const canGo = admissible.includes(command);
          const doorY = above ? y + boxHeight - 3 : y + 2;
          return (
            <g
              key={name}
              className={canGo ? 'receptacle receptacle-reachable' : 'receptacle'}
              onClick={() => {
                if (canGo) onAct(command);
              }}
            >
              <rect
                className={name === at ? 'receptacle-box receptacle-here' : 'receptacle-box'}
                x={x + 2.5}
                y={y + 0.5}
                width={boxWidth - 5}
                height={boxHeight - 1}
              />
              {door && (
                <line
                  className={door === 'shut' ? 'door door-shut' : 'door'}
                  x1={x + 8}
                  x2={x + boxWidth - 8}
                  y1={doorY}
                  y2={doorY}
                />
              )}
              <text x={x + 9} y={y + 16} className="receptacle-name">
                {name}
              </text>
              {objects === null ? (
                <text x={x + 9} y={y + 34} className="receptacle-unknown">
                  ?
                </text>
              ) : objects.length === 0 ? (
                <text x={x + 9} y={y + 33} className="receptacle-object">
                  {texts.empty}
                </text>
              ) : (
                objects.slice(0, objects.length > shown ? shown - 1 : shown).map((object, index) => (
                  <text key={object} x={x + 9} y={y + 33 + 13 * index} className="receptacle-object">
                    {named(object)}
                  </text>
                ))
              )}
              {objects !== null && objects.length > shown && (
                <text x={x + 9} y={y + 33 + 13 * (shown - 1)} className="receptacle-object">
                  {texts.more(objects.length - shown + 1)}
                  <title>{objects.map(named).join(', ')}</title>
                </text>
              )}
            </g>
          );
        })}
        <g className="agent" transform={`translate(${agent.x} ${agent.y})`}>
          <circle r={7} />
          {hand !== null && (
            <text x={12} y={4}>
              {texts.holds(named(hand))}
            </text>
          )}
        </g>
      </svg>
      <p className="soft small">{hidden ? texts.hiddenKey : texts.knownKey}</p>
    </div>
  );
}
