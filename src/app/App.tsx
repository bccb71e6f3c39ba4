import { lazy, Suspense, useEffect, useMemo, useState } from 'react';
import { levelDiagnostics } from '../analysis/groups.ts';
import { largestTask } from '../workers/estimation/derive.ts';
import { methods as methodTable } from '../estimators/registry.ts';
import { StepAdvantage } from './advantage/StepAdvantage.tsx';
import { EngineRoom } from './engine/EngineRoom.tsx';
import { Group } from './groups/Group.tsx';
import { chosenChain, hierarchyOf, sharedPasts } from './groups/hierarchy.ts';
import { usePlay } from './play/episode.ts';
import { Lab } from './lab/Lab.tsx';
import { RollOut } from './rollouts/RollOut.tsx';
import type { SharedPast } from './rollouts/RolloutGrid.tsx';
import { rowAt, taskOf } from './rollouts/task.ts';
import { ChapterHead } from './shell/ChapterHead.tsx';
import { ControlStrip } from './shell/ControlStrip.tsx';
import { Header } from './shell/Header.tsx';
import { Notices } from './shell/Notices.tsx';
import { SourceBar } from './shell/SourceBar.tsx';
import { usePageKeys } from './shell/use-page-keys.ts';
import { useAppearance, useLesson, useSelection, useSettings, useView } from './state/controls.ts';
import { nothing } from './state/fields.ts';
import { useEstimates } from './state/estimates.ts';
import { openRecorded, useRollouts } from './state/rollouts.ts';
import { useLessonView } from './state/lesson-view.ts';
import { chooseAddress, taskInUse } from './state/selection.ts';
import { WhenNear } from './shell/WhenNear.tsx';
import { AllSteps } from './steps/AllSteps.tsx';
import { UtilisationLine } from './steps/UtilisationLine.tsx';
import { useTexts } from './text/language.ts';
import './App.css';

// What stands behind a click or far below loads when it is asked for.
const Arithmetic = lazy(() => import('./advantage/Arithmetic.tsx').then((module) => ({ default: module.Arithmetic })));
const Play = lazy(() => import('./play/Play.tsx').then((module) => ({ default: module.Play })));

const LessonBar = lazy(() => import('./lessons/LessonBar.tsx').then((module) => ({ default: module.LessonBar })));
const Glossary = lazy(() => import('./glossary/Glossary.tsx').then((module) => ({ default: module.Glossary })));
// Curves and trainer are as large as the rest of the page.
const Training = lazy(() => import('./training/Training.tsx').then((module) => ({ default: module.Training })));

const nobody: readonly SharedPast[] = [];

/** The page, in the order in which the data flows. */
export function App() {
  const texts = useTexts();
  const settings = useSettings();
  const selection = useSelection();
  const estimates = useEstimates((state) => state.current);
  const { batch: source, failed } = useRollouts();
  const isPlaying = usePlay(({ start, busy }) => start !== null || busy);
  const isLesson = useLesson(({ lesson }) => lesson !== 'none');
  const hidden = useLessonView((view) => view.hidden);
  const term = useView((view) => view.word);
  usePageKeys(estimates);
  useAppearanceOnPage();

  const [hovered, hover] = useState(nothing);
  const opened = useView((view) => view.arithmetic);
  const batch = estimates?.batch ?? null;
  const taskNumber = batch ? Math.min(taskInUse(selection.task), batch.tasks.size - 1) : 0;
  const task = useMemo(() => (batch ? taskOf(batch, taskNumber) : null), [batch, taskNumber]);
  const row = task ? rowAt(task, selection.trajectory, selection.step) : nothing;
  const deep = estimates?.deep;
  const previous = estimates?.previous;
  const levels = useMemo(() => deep && levelDiagnostics(deep), [deep]);
  const hierarchy = useMemo(() => {
    if (!batch || !deep || !previous || row < 0) return null;
    const levels = deep.slice(0, settings.depth + 1).map(({ groups }) => groups);
    const root = hierarchyOf(batch, previous, levels, row);
    const chain = chosenChain(root);
    return { root, chain, pasts: sharedPasts(chain) };
  }, [batch, deep, previous, row, settings.depth]);

  return (
    <div className="page" data-hidden={hidden.join(' ')}>
      <a className="skip" href="#rollouts" onClick={focusGrid}>
        {texts.skip}
      </a>
      <Header />
      <SourceBar estimates={estimates} task={taskNumber} />
      <ControlStrip groupSize={source ? largestTask(source) : 8} />
      {isLesson && estimates && (
        <Suspense fallback={<p className="soft lesson-opening">{texts.learn.opening}</p>}>
          <LessonBar estimates={estimates} />
        </Suspense>
      )}
      <Notices />
      <main>
        {failed && (
          <p className="wide-chapter">
            {texts.source.failed}{' '}
            <button type="button" onClick={() => void openRecorded()}>
              {texts.source.retry}
            </button>
          </p>
        )}
        <UtilisationLine levels={levels ?? null} deepest={estimates?.byMethod.hgpo.settings.K ?? settings.depth} />
        <div className="story">
          <section className="chapter" aria-labelledby="roll-out">
            <RollOut
              estimates={estimates}
              task={task}
              members={hierarchy?.pasts ?? nobody}
              hovered={hovered}
              onHover={hover}
            />
          </section>
          <section className="chapter" data-part="group" aria-labelledby="group">
            <ChapterHead id="group" number={2} title={texts.group.title} />
            {estimates && task && hierarchy ? (
              <Group
                estimates={estimates}
                task={task}
                row={row}
                root={hierarchy.root}
                chain={hierarchy.chain}
                deepest={settings.depth}
                onHover={hover}
              />
            ) : (
              <p className="soft">{texts.group.none}</p>
            )}
          </section>
          <section className="chapter" data-part="compare" aria-labelledby="compare">
            <ChapterHead
              id="compare"
              number={3}
              title={texts.compare.title}
              note={texts.sentences[settings.method] ?? methodTable[settings.method].sentence}
            />
            {estimates && row >= 0 ? (
              <StepAdvantage
                estimates={estimates}
                row={row}
                method={settings.method}
                onMethod={(method) => {
                  useSettings.setState({ method });
                }}
                onOpen={(arithmetic) => {
                  useView.setState({ arithmetic });
                }}
              />
            ) : (
              <p className="soft">{texts.compare.none}</p>
            )}
          </section>
          {estimates && row >= 0 && opened !== 'none' && (
            <Suspense>
              <Arithmetic
                estimates={estimates}
                row={row}
                method={opened}
                onHover={hover}
                onClose={() => {
                  useView.setState({ arithmetic: 'none' });
                }}
              />
            </Suspense>
          )}
        </div>
        <section
          className="wide-chapter"
          aria-labelledby="all-steps"
          // Until there is something to show: what stands below must not be near the screen and load for nothing.
          style={estimates ? undefined : { minHeight: '80rem' }}
        >
          <ChapterHead id="all-steps" number={4} title={texts.allSteps.title} />
          {estimates && levels && (
            <AllSteps
              estimates={estimates}
              levels={levels}
              method={settings.method}
              against={settings.against}
              chosen={row}
              onChoose={(address) => {
                chooseAddress(address);
                document.getElementById('rollouts')?.scrollIntoView({ block: 'nearest' });
              }}
            />
          )}
        </section>
        <Lab number={5} />
        <section className="wide-chapter" aria-labelledby="update">
          <ChapterHead id="update" number={6} title={texts.update.title} note={texts.update.note} />
          <WhenNear height="60vh">
            <Training />
          </WhenNear>
        </section>
        <section className="wide-chapter" aria-labelledby="play">
          <ChapterHead id="play" number={7} title={texts.play.title} note={texts.play.note} />
          <WhenNear height="3rem" now={isPlaying}>
            <Play />
          </WhenNear>
        </section>
        <EngineRoom />
      </main>
      {term !== 'none' && (
        <Suspense>
          <Glossary term={term} />
        </Suspense>
      )}
    </div>
  );
}

function focusGrid(event: React.MouseEvent): void {
  event.preventDefault();
  document.querySelector<SVGElement>('[role=grid]')?.focus();
}

/** Theme and language belong to the document, so that scroll bars, form controls and speech follow them. */
function useAppearanceOnPage(): void {
  const { theme, language } = useAppearance();
  useEffect(() => {
    document.documentElement.lang = language === 'zh' ? 'zh-Hans' : 'en';
  }, [language]);
  useEffect(() => {
    const dark = matchMedia('(prefers-color-scheme: dark)');
    const apply = () => {
      document.documentElement.dataset.theme = theme === 'auto' ? (dark.matches ? 'dark' : 'light') : theme;
    };
    apply();
    dark.addEventListener('change', apply);
    return () => {
      dark.removeEventListener('change', apply);
    };
  }, [theme]);
}
