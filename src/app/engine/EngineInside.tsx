import { useEffect, useRef, useState } from 'react';
import {
  engine,
  shaders,
  type EngineAdapter,
  type EngineMemory,
  type KernelVariants,
  type SelfTestResult,
} from '../../workers/engine/client.ts';
import { count, number } from '../number.ts';
import { useView } from '../state/controls.ts';
import { useTexts } from '../text/language.ts';
import { useEngineTexts } from './use-engine-texts.ts';

const calls = engine();

/** The adapter, a kernel's source, and the self-test. */
export function EngineInside() {
  const texts = useEngineTexts();
  const { looking } = useTexts().engine;
  const [adapter, setAdapter] = useState<EngineAdapter | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  const [attempt, retry] = useState(0);
  useEffect(() => {
    let current = true;
    calls.call('adapter').then(
      (found) => {
        if (current) setAdapter(found);
      },
      (error: unknown) => {
        if (current) setFailure(messageOf(error));
      },
    );
    return () => {
      current = false;
    };
  }, [attempt]);

  if (failure !== null) {
    return (
      <p role="alert">
        {failure}{' '}
        <button
          type="button"
          onClick={() => {
            setFailure(null);
            retry(attempt + 1);
          }}
        >
          {texts.retry}
        </button>
      </p>
    );
  }
  return (
    <div className="engine-columns">
      <section aria-labelledby="engine-adapter">
        <h3 id="engine-adapter">{texts.adapter}</h3>
        {adapter === null ? (
          <p className="soft">{looking}</p>
        ) : adapter.available ? (
          <>
            <Adapter adapter={adapter.adapter} />
            <Variants />
          </>
        ) : (
          <p>{adapter.message}</p>
        )}
        <Shader />
      </section>
      {adapter?.available && <SelfTest />}
    </div>
  );
}

function Adapter({ adapter }: { readonly adapter: Extract<EngineAdapter, { available: true }>['adapter'] }) {
  const texts = useEngineTexts();
  return (
    <>
      <p>
        {adapter.name}: {adapter.software ? texts.software : texts.hardware}{' '}
        {adapter.featureLevel === 'compatibility' && texts.compatibility}
      </p>
      <table className="engine-table">
        <caption className="small soft">{texts.limits}</caption>
        <tbody>
          {Object.entries(adapter.limits).map(([name, value]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>{count(value)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

/** What was chosen among the variants of kernels, and why. */
function Variants() {
  const texts = useEngineTexts();
  const [chosen, setChosen] = useState<KernelVariants | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  useEffect(() => {
    calls.call('variants').then(setChosen, (error: unknown) => {
      setFailure(messageOf(error));
    });
  }, []);
  if (failure !== null) return <p role="alert">{failure}</p>;
  if (chosen === null) return <p className="soft">{texts.measuring}</p>;
  return (
    <table className="engine-table">
      <caption className="small soft">{texts.variants}</caption>
      <tbody>
        {(Object.keys(texts.variantNames) as (keyof KernelVariants)[]).map((name) => (
          <tr key={name}>
            <th scope="row">{texts.variantNames[name]}</th>
            <td>{chosen[name]}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

type Run = 'idle' | 'running' | 'done' | 'stopped';

function SelfTest() {
  const texts = useEngineTexts();
  const [kernels, setKernels] = useState<readonly string[]>([]);
  const [results, setResults] = useState<ReadonlyMap<string, SelfTestResult>>(new Map());
  const [run, setRun] = useState<Run>('idle');
  const [memory, setMemory] = useState<EngineMemory | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  const stopping = useRef(false);

  useEffect(() => {
    calls.call('kernels').then(setKernels, (error: unknown) => {
      setFailure(messageOf(error));
    });
    // A panel that goes away has nobody to show the rest of its test to.
    return () => {
      stopping.current = true;
    };
  }, []);

  const start = async () => {
    stopping.current = false;
    setRun('running');
    setFailure(null);
    setResults(new Map());
    try {
      for (const kernel of kernels) {
        if (stopping.current) break;
        const result = await calls.call('selfTest', kernel);
        setResults((before) => new Map(before).set(kernel, result));
      }
      setMemory(await calls.call('memory'));
      setRun(stopping.current ? 'stopped' : 'done');
    } catch (error) {
      setFailure(messageOf(error));
      setRun('stopped');
    }
  };

  const failed = [...results.values()].filter(({ pass }) => !pass).map(({ kernel }) => kernel);
  return (
    <section aria-labelledby="engine-self-test">
      <h3 id="engine-self-test">{texts.selfTest}</h3>
      <p className="small soft">{texts.selfTestMeaning}</p>
      <p>
        {run === 'running' ? (
          <button
            type="button"
            onClick={() => {
              stopping.current = true;
            }}
          >
            {texts.stop}
          </button>
        ) : (
          <button type="button" disabled={kernels.length === 0} onClick={() => void start()}>
            {texts.run}
          </button>
        )}{' '}
        <span role="status">
          {run === 'running' && texts.progress(results.size, kernels.length)}
          {run === 'stopped' && texts.stopped(results.size, kernels.length)}
          {run === 'done' && (failed.length === 0 ? texts.passed(kernels.length) : texts.failed(failed))}
        </span>
      </p>
      {failure !== null && <p role="alert">{failure}</p>}
      <div className="engine-scroll" tabIndex={0} role="group" aria-label={texts.results}>
        <table className="engine-table">
          <thead>
            <tr>
              <th scope="col">{texts.kernel}</th>
              <th scope="col">{texts.cases}</th>
              <th scope="col">{texts.absolute}</th>
              <th scope="col">{texts.relative}</th>
              <th scope="col">{texts.verdict}</th>
            </tr>
          </thead>
          <tbody>
            {kernels.map((kernel) => {
              const result = results.get(kernel);
              return (
                <tr key={kernel}>
                  <th scope="row">{kernel}</th>
                  <td>{result ? count(result.cases) : ''}</td>
                  <td>{result ? number(result.maxAbsError) : ''}</td>
                  <td>{result ? number(result.maxRelError) : ''}</td>
                  <td>{result ? (result.pass ? texts.pass : (result.failure ?? texts.fail)) : ''}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
      {memory && (
        <p className="small soft">
          {texts.memory(count(memory.liveBuffers), megabytes(memory.peakBytes), count(memory.dispatches))}
        </p>
      )}
    </section>
  );
}

function Shader() {
  const texts = useEngineTexts();
  const name = useView((view) => view.kernel);
  const [source, setSource] = useState({ name: '', text: '' });
  useEffect(() => {
    void shaders[name]?.().then((text) => {
      setSource({ name, text });
    });
  }, [name]);
  return (
    <>
      <p>
        <label>
          {texts.source}{' '}
          <select
            value={name}
            onChange={(event) => {
              useView.setState({ kernel: event.target.value });
            }}
          >
            <option value="">{texts.chooseSource}</option>
            {Object.keys(shaders).map((file) => (
              <option key={file}>{file}</option>
            ))}
          </select>
        </label>
      </p>
      {name !== '' && source.name === name && (
        <pre className="engine-source" tabIndex={0} aria-label={name}>
          {source.text}
        </pre>
      )}
    </>
  );
}

function megabytes(bytes: number): string {
  return number(bytes / 2 ** 20);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
