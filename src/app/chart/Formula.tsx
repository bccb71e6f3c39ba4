import { useEffect, useState } from 'react';

type Render = (tex: string) => string;
let loaded: Render | null = null;
let loading: Promise<Render> | null = null;

/** KaTeX is 75 kB and its fonts more: it is fetched when the first formula is opened. */
function loadKatex(): Promise<Render> {
  loading ??= Promise.all([import('katex'), import('katex/dist/katex.min.css')]).then(([{ default: katex }]) => {
    loaded = (tex) => katex.renderToString(tex, { displayMode: true, throwOnError: false });
    return loaded;
  });
  return loading;
}

/** A formula in TeX, with the MathML that screen readers speak. Until KaTeX is there, `plain` stands in its place. */
export function Formula({ tex, plain }: { readonly tex: string; readonly plain: string }) {
  const [render, setRender] = useState<Render | null>(() => loaded);
  useEffect(() => {
    let shown = true;
    void loadKatex().then((ready) => {
      if (shown) setRender(() => ready);
    });
    return () => {
      shown = false;
    };
  }, []);
  // The source is built from numbers and fixed symbols alone; no text from a file or a link gets here.
  return render ? <div className="formula" dangerouslySetInnerHTML={{ __html: render(tex) }} /> : <p>{plain}</p>;
}
