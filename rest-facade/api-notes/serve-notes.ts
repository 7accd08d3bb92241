/** `/docs/notes/`: API-NOTES.md and RECEIPTS.md beside this file, as one page. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { codeBlock } from '../guide-page.ts';
import { serveOtherPage } from '../guides/serve-guides.ts';

/** The anchor of a heading, as GitHub makes it. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\w\s-]/g, '')
    .replaceAll(/\s/g, '-');

/** Markdown as HTML, with a list of its sections below the title. */
const renderNotes = async (markdown: string): Promise<string> => {
  const { Marked } = await import('marked');
  const sections: string[] = [];
  const renderer = {
    heading: ({ depth, text }: { readonly depth: number; readonly text: string }) => {
      if (depth === 2) sections.push(`<a href="#${anchorOf(text)}">${text}</a>`);
      return `<h${depth} id="${anchorOf(text)}">${text}</h${depth}>\n`;
    },
    code: ({ text }: { readonly text: string }) => codeBlock(text),
  };
  const html = new Marked({ async: false, renderer }).parse(markdown, { async: false });
  return html.replace('</h1>', `</h1><p>${sections.join(', ')}.</p>`);
};

/** Adds the page. */
export const serveNotes = (app: FastifyInstance, cacheControl: string): void => {
  const notes = ['API-NOTES.md', 'RECEIPTS.md']
    .map((file) => readFileSync(join(import.meta.dirname, file), 'utf8'))
    .join('\n');
  serveOtherPage(app, '/docs/notes/', () => renderNotes(notes), cacheControl);
};
