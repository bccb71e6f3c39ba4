import { lazy, Suspense, useEffect, useState } from 'react';
import { useMenu } from '../chart/use-menu.ts';
import { Termed } from '../glossary/Termed.tsx';
import { appearanceFields, lessonFields } from '../state/fields.ts';
import { useAppearance, useLesson, useView } from '../state/controls.ts';
import { currentLink } from '../state/link.ts';
import { useTexts } from '../text/language.ts';
import { isTyping } from './typing.ts';
import './Header.css';

const KeyHelp = lazy(() => import('./KeyHelp.tsx').then((module) => ({ default: module.KeyHelp })));

const languageNames = { en: 'EN', zh: '中' } as const;

/** What the page is, what to try, and how it looks. */
export function Header() {
  const texts = useTexts();
  const { theme, language } = useAppearance();
  const [keysShown, showKeys] = useState(false);
  useQuestionMark(showKeys);
  return (
    <header className="header">
      <h1>{texts.title}</h1>
      <p className="header-tagline">
        {texts.tagline}{' '}
        <span className="soft">
          <Termed text={texts.tryThis} terms={['step', 'advantage', 'group']} />
        </span>
      </p>
      <div className="header-tools">
        <Learn />
        <CopyLink />
        <button
          type="button"
          className="plain-button"
          aria-label={`${texts.theme.label}: ${texts.theme[theme]}`}
          title={`${texts.theme.label}: ${texts.theme[theme]}`}
          onClick={() => {
            const order = appearanceFields.theme.options;
            useAppearance.setState({ theme: order[(order.indexOf(theme) + 1) % order.length]! });
          }}
        >
          <ThemeMark theme={theme} />
        </button>
        <button
          type="button"
          className="plain-button"
          aria-label={`${texts.language}: ${language === 'en' ? '中文' : 'EN, English'}`}
          onClick={() => {
            useAppearance.setState({ language: language === 'en' ? 'zh' : 'en' });
          }}
        >
          <span lang={language === 'en' ? 'zh' : 'en'}>{languageNames[language === 'en' ? 'zh' : 'en']}</span>
        </button>
        <button
          type="button"
          className="plain-button"
          aria-label={texts.keys.button}
          title={texts.keys.button}
          onClick={() => {
            showKeys(true);
          }}
        >
          ?
        </button>
      </div>
      {keysShown && (
        <Suspense>
          <KeyHelp
            onClose={() => {
              showKeys(false);
            }}
          />
        </Suspense>
      )}
    </header>
  );
}

/** `?` lists the keys, anywhere on the page. */
function useQuestionMark(show: (shown: boolean) => void): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key === '?' && !isTyping(event)) show(true);
    };
    addEventListener('keydown', onKey);
    return () => {
      removeEventListener('keydown', onKey);
    };
  }, [show]);
}

/** The lessons, and the glossary. */
function Learn() {
  const texts = useTexts();
  const { menu, close, onKeyDown } = useMenu();
  return (
    <details
      ref={menu}
      className="learn"
      onKeyDown={onKeyDown}
      onBlur={(event) => {
        if (!menu.current?.contains(event.relatedTarget)) close();
      }}
    >
      <summary>{texts.learn.button}</summary>
      <ul aria-label={texts.learn.lessons}>
        {lessonFields.lesson.options.map((lesson) =>
          lesson === 'none' ? null : (
            <li key={lesson}>
              <button
                type="button"
                onClick={() => {
                  useLesson.setState({ lesson, stage: 0 });
                  close();
                }}
              >
                {texts.lessonTitles[lesson]}
              </button>
            </li>
          ),
        )}
        <li>
          <button
            type="button"
            onClick={() => {
              useView.setState({ word: 'trajectory' });
              close();
            }}
          >
            {texts.glossary.title}
          </button>
        </li>
      </ul>
    </details>
  );
}

/** Copies the link to exactly what is on screen. */
function CopyLink() {
  const texts = useTexts().link;
  const [said, say] = useState<'copied' | 'failed' | null>(null);
  useEffect(() => {
    if (said === null) return;
    const timer = setTimeout(() => {
      say(null);
    }, 4000);
    return () => {
      clearTimeout(timer);
    };
  }, [said]);
  const copy = async () => {
    const link = new URL(`#${currentLink()}`, location.href).href;
    try {
      await navigator.clipboard.writeText(link);
      say('copied');
    } catch {
      // Not every browser lets a page write there; the address bar holds the same link.
      say('failed');
    }
  };
  return (
    <>
      <span role="status" className="small soft">
        {said && texts[said]}
      </span>
      <button type="button" className="plain-button" onClick={() => void copy()}>
        {texts.button}
      </button>
    </>
  );
}

function ThemeMark({ theme }: { readonly theme: 'auto' | 'light' | 'dark' }) {
  return (
    <svg width="14" height="14" viewBox="0 0 14 14" aria-hidden="true" className="header-theme">
      <circle cx="7" cy="7" r="6" />
      {theme === 'auto' && <path d="M7 1 a6 6 0 0 1 0 12 z" />}
      {theme === 'dark' && <circle cx="7" cy="7" r="6" className="header-theme-full" />}
    </svg>
  );
}
