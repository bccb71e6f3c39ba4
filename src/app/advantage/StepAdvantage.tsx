import type { ReactNode } from 'react';
import { methods as methodTable } from '../../estimators/registry.ts';
import { advantagePaint, depthPaint } from '../chart/colour.ts';
import { share, signed } from '../number.ts';
import type { Estimates } from '../state/estimates.ts';
import { methods, type Method } from '../state/fields.ts';
import { useTexts } from '../text/language.ts';
import type { Texts } from '../text/en.ts';
import { partsOf, runningSum, type Part } from './parts.ts';
import './StepAdvantage.css';

interface StepAdvantageProps {
  readonly estimates: Estimates;
  readonly row: number;
  readonly method: Method;
  readonly onMethod: (method: Method) => void;
  readonly onOpen: (method: Method) => void;
}

/** The advantage of one step: level by level, summed, and beside what the other methods say. */
export function StepAdvantage({ estimates, row, method, onMethod, onOpen }: StepAdvantageProps) {
  const texts = useTexts().compare;
  const { batch, byMethod, settings } = estimates;
  const estimate = byMethod[method];
  const task = batch.task[row]!;
  const parts = partsOf(estimate, task, row);
  const value = estimate.advantage[row]!;
  const values = methods.map((one) => byMethod[one].advantage[row]!);
  const reach = Math.max(
    0.5,
    ...values.map(Math.abs),
    ...parts.map(({ advantage }) => (Number.isNaN(advantage) ? 0 : Math.abs(advantage))),
  );
  const opposite = methods.filter((one) => byMethod[one].advantage[row]! * value < 0);
  const deepest = settings.hgpo.K;
  const name = methodTable[method].name;

  const segments = runningSum(parts);

  return (
    <div className="step-advantage">
      <p className="step-advantage-sentence">
        {texts.sentence(value, name)}{' '}
        <span className="soft">
          {opposite.length > 0 ? texts.disagree(opposite.map((one) => methodTable[one].name)) : texts.agree}
        </span>
      </p>
      <table className="step-advantage-table">
        <caption className="visually-hidden">{texts.levels}</caption>
        <thead>
          <tr>
            <th scope="col">{texts.compared}</th>
            <th scope="col" className="numeric">
              n
            </th>
            <th scope="col" className="step-advantage-axis">
              <Axis reach={reach} />
            </th>
            <th scope="col" className="numeric">
              A
            </th>
            <th scope="col" className="numeric">
              {texts.weight}
            </th>
          </tr>
        </thead>
        <tbody>
          {parts.map((part) => (
            <tr key={`${part.kind}-${part.k}`} className={part.weight === 0 ? 'step-advantage-idle' : undefined}>
              <th scope="row">
                <PartName part={part} texts={texts} />
              </th>
              <td className="numeric">{part.size > 0 ? part.size : '–'}</td>
              <td>
                <Track>
                  <Bar value={part.advantage} reach={reach} />
                </Track>
              </td>
              <td className="numeric">
                {Number.isNaN(part.advantage)
                  ? part.size === 0
                    ? texts.absent
                    : texts.alone
                  : part.advantage === 0
                    ? texts.zero
                    : signed(part.advantage)}
              </td>
              <td className="numeric">{part.weight === 0 ? '–' : `× ${share(part.weight)}`}</td>
            </tr>
          ))}
          <tr className="step-advantage-sum">
            <th scope="row" colSpan={2}>
              {texts.sum(name)}
            </th>
            <td>
              <Track lines={Math.max(1, segments.length)}>
                {segments.map(({ part, from, to }, index) => (
                  <rect
                    key={index}
                    x={`${at(Math.min(from, to), reach)}%`}
                    width={`${Math.max(0.4, (Math.abs(to - from) / reach) * 50)}%`}
                    y={3 + index * 6}
                    height={5}
                    style={{ fill: part.kind === 'level' ? depthPaint(part.k, deepest).fill : 'var(--edge)' }}
                  />
                ))}
              </Track>
            </td>
            <td className="numeric" colSpan={2}>
              <button
                type="button"
                className="value-button"
                aria-haspopup="dialog"
                aria-label={`${texts.open}: ${signed(value)}`}
                onClick={() => {
                  onOpen(method);
                }}
              >
                <strong>{signed(value)}</strong>
              </button>
            </td>
          </tr>
        </tbody>
      </table>
      <table className="step-advantage-table">
        <caption>{texts.methods}</caption>
        <tbody>
          {methods.map((one) => {
            const here = byMethod[one].advantage[row]!;
            return (
              <tr key={one} className={one === method ? 'step-advantage-own' : undefined}>
                <th scope="row">
                  <button
                    type="button"
                    className="value-button"
                    aria-pressed={one === method}
                    onClick={() => {
                      onMethod(one);
                    }}
                  >
                    {methodTable[one].name}
                  </button>
                </th>
                <td>
                  <Track>
                    <line className="step-advantage-stem" x1="50%" x2={`${at(here, reach)}%`} y1={9} y2={9} />
                    <circle
                      cx={`${at(here, reach)}%`}
                      cy={9}
                      r={4.5}
                      className="step-advantage-dot"
                      style={{ fill: advantagePaint(here, reach / 2).fill }}
                    />
                  </Track>
                </td>
                <td className="numeric">
                  <button
                    type="button"
                    className="value-button"
                    aria-haspopup="dialog"
                    aria-label={`${texts.open}: ${methodTable[one].name} ${signed(here)}`}
                    onClick={() => {
                      onOpen(one);
                    }}
                  >
                    {here === 0 ? texts.zero : signed(here)}
                  </button>
                </td>
                <td className="step-advantage-sign">
                  {here * value < 0 && (
                    <span title={texts.opposite}>
                      <span aria-hidden="true">⇄</span>
                      <span className="visually-hidden">{texts.opposite}</span>
                    </span>
                  )}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

function PartName({ part, texts }: { readonly part: Part; readonly texts: Texts['compare'] }) {
  switch (part.kind) {
    case 'level':
      return (
        <>
          G<sub>{part.k}</sub> <span className="soft">{texts.levelName(part.k)}</span>
        </>
      );
    case 'trajectory':
      return texts.trajectoryPart;
    case 'peers':
      return texts.peersPart;
    case 'credit':
      return texts.creditPart;
  }
}

/** Position on the symmetric axis in per cent. */
const at = (value: number, reach: number) => 50 + 50 * Math.max(-1, Math.min(1, value / reach));

function Track({ children, lines }: { readonly lines?: number; readonly children?: ReactNode }) {
  return (
    <svg className="track" width="100%" height={lines === undefined ? 18 : 6 + 6 * lines} aria-hidden="true">
      <line className="track-zero" x1="50%" x2="50%" y1={0} y2="100%" />
      {children}
    </svg>
  );
}

function Bar({ value, reach }: { readonly value: number; readonly reach: number }) {
  if (Number.isNaN(value) || value === 0) return null;
  const end = at(value, reach);
  return (
    <rect
      x={`${Math.min(50, end)}%`}
      width={`${Math.abs(end - 50)}%`}
      y={4}
      height={10}
      style={{ fill: value > 0 ? 'var(--above)' : 'var(--below)' }}
    />
  );
}

function Axis({ reach }: { readonly reach: number }) {
  return (
    <span className="axis-ends">
      <span>{signed(-reach)}</span>
      <span>0</span>
      <span>{signed(reach)}</span>
    </span>
  );
}
