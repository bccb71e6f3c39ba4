import { csvLine } from '../../rollouts/csv.ts';

/** Saving what is on screen as a file: figures as SVG and PNG, tables as CSV. */

export function saveFile(name: string, content: Blob): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  // The browser takes the content when the click is over.
  setTimeout(() => {
    URL.revokeObjectURL(link.href);
  }, 10_000);
}

/** A table as CSV, with a byte order mark so that spreadsheets read UTF-8. */
export function csvOf(head: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  return `\uFEFF${[head, ...rows].map(csvLine).join('')}`;
}

/** What a figure takes from style sheets, which do not travel with it. */
const drawn = [
  'fill',
  'stroke',
  'stroke-width',
  'stroke-dasharray',
  'stroke-linecap',
  'opacity',
  'font-family',
  'font-size',
  'font-weight',
  'paint-order',
] as const;

/** A figure as an SVG document of its own, in the colours that it has on screen. */
export function svgOf(figure: SVGSVGElement): string {
  const copy = figure.cloneNode(true) as SVGSVGElement;
  const originals = [figure, ...figure.querySelectorAll('*')];
  [copy, ...copy.querySelectorAll('*')].forEach((element, index) => {
    const style = getComputedStyle(originals[index]!);
    element.removeAttribute('class');
    element.setAttribute('style', drawn.map((name) => `${name}:${style.getPropertyValue(name)}`).join(';'));
  });
  const { width, height } = figure.getBoundingClientRect();
  copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
  copy.setAttribute('width', String(width));
  copy.setAttribute('height', String(height));
  copy.setAttribute('viewBox', `0 0 ${width} ${height}`);
  const paper = document.createElementNS('http://www.w3.org/2000/svg', 'rect');
  paper.setAttribute('width', '100%');
  paper.setAttribute('height', '100%');
  paper.setAttribute('style', `fill:${getComputedStyle(document.body).backgroundColor}`);
  copy.prepend(paper);
  return new XMLSerializer().serializeToString(copy);
}

/** The same as pixels, twice as many as on screen. */
export async function pngOf(figure: SVGSVGElement): Promise<Blob> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svgOf(figure))}`;
  await image.decode();
  const canvas = document.createElement('canvas');
  canvas.width = 2 * image.width;
  canvas.height = 2 * image.height;
  canvas.getContext('2d')!.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => {
      if (blob) resolve(blob);
      else reject(new Error('The browser could not turn the figure into pixels.'));
    });
  });
}
