import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface SourceFile {
  /** From the root of the repository, with forward slashes: `src/core/retry.ts`. */
  path: string
  text: string
}

export function readSources(root: string): SourceFile[] {
  return globSync('{src,test,bench}/**/*.{ts,tsx}', { cwd: root, exclude: ['**/node_modules/**'] })
    .toSorted()
    .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }))
}

/** Code that only runs under node:test: tests, port contracts and their helpers. */
export function isTestCode(path: string): boolean {
  return (
    /^(test|bench)\//.test(path) ||
    /\.(test|fixture)\.tsx?$/.test(path) ||
    /\/(contract\.ts$|contract\/|testing\/)/.test(path)
  )
}

/** Blanks comments but keeps line breaks, so that line numbers stay correct. */
export function withoutComments(text: string): string {
  return text
    .replaceAll(/\/\*[\s\S]*?\*\//g, (comment) => comment.replaceAll(/[^\n]/g, ' '))
    .replaceAll(/(^|[^:'"`])\/\/.*$/gm, '$1')
}

/** Everything a file imports, re-exports or loads dynamically, as written. */
export function importsOf(text: string): string[] {
  const pattern = /\b(?:from|import)\s*\(?\s*(['"])([^'"\n]+)\1/g
  return [...withoutComments(text).matchAll(pattern)].map((match) => match[2] ?? '')
}
