import { matchesGlob } from 'node:path'
import { isTestCode, withoutComments, type SourceFile } from './source-tree.ts'

const VAGUE_NAMES = ['common', 'helper', 'helpers', 'misc', 'util', 'utils']
const CLOCKS =
  /\b(Date\.now|new Date\(\)|Math\.random|performance\.now|process\.hrtime|setTimeout|setInterval)/
const SLEEPS = /\b(setTimeout|setInterval)\b/
// Bracketed, so that this file does not trip over itself.
const UNFINISHED = /\b(TOD[O]|FIXM[E]|XX[X])\b/

/** Time and chance are handed in, so that tests and the simulator can turn them by hand. */
export function clockRefusals({ path, text }: SourceFile, allowed: string[]): string[] {
  if (!path.startsWith('src/') || isTestCode(path) || isListed(path, allowed)) return []
  return linesMatching(withoutComments(text), CLOCKS).map(
    ([line, found]) => `\`${path}:${line}\` uses ${found}; take a Clock or Random instead`,
  )
}

/** A pause that is long enough today fails on a slower machine, and wastes time on a faster one. */
export function sleepRefusals({ path, text }: SourceFile, allowed: string[]): string[] {
  if (!isTestCode(path) || path.startsWith('bench/') || isListed(path, allowed)) return []
  return linesMatching(withoutComments(text), SLEEPS).map(
    ([line, found]) => `\`${path}:${line}\` uses ${found}; wait for a condition with waitFor`,
  )
}

export function unfinishedRefusals({ path, text }: SourceFile): string[] {
  return linesMatching(text, UNFINISHED).map(
    ([line, found]) => `\`${path}:${line}\` says ${found}; do it, or open an issue`,
  )
}

export function nameRefusal(path: string): string | undefined {
  const vague = path
    .replace(/(\.test)?\.tsx?$/, '')
    .split('/')
    .find((part) => VAGUE_NAMES.includes(part))
  return vague && `\`${path}\` is called ${vague}; say what it is about`
}

export function sizeRefusal({ path, text }: SourceFile): string | undefined {
  const limit = isTestCode(path) ? 500 : 350
  const lines = lineCount(text)
  if (lines <= limit) return undefined
  return `\`${path}\` has ${lines} lines (at most ${limit}); it holds more than one subject, so split it`
}

export function medianRefusal(files: SourceFile[], limit = 150): string | undefined {
  const sizes = files
    .filter(({ path }) => path.startsWith('src/') && !isTestCode(path))
    .map(({ text }) => lineCount(text))
    .toSorted((a, b) => a - b)
  const median = sizes[Math.floor(sizes.length / 2)] ?? 0
  if (median <= limit) return undefined
  return `the median source file has ${median} lines (at most ${limit})`
}

function lineCount(text: string): number {
  return text.split('\n').length - (text.endsWith('\n') ? 1 : 0)
}

function linesMatching(text: string, pattern: RegExp): [line: number, found: string][] {
  return text.split('\n').flatMap((line, index): [number, string][] => {
    const found = pattern.exec(line)?.[1]
    return found === undefined ? [] : [[index + 1, found]]
  })
}

function isListed(path: string, patterns: string[]): boolean {
  return patterns.some((pattern) => matchesGlob(path, pattern))
}
