import { matchesGlob } from 'node:path'
import { isTestCode, withoutComments, type SourceFile } from './source-tree.ts'

const VAGUE_NAMES = ['common', 'helper', 'helpers', 'misc', 'util', 'utils']
const CLOCKS =
  /\b(Date\.now|new Date\(\)|Math\.random|performance\.now|process\.hrtime|setTimeout|setInterval)/
const SLEEPS = /\b(setTimeout|setInterval)\b/
// In brackets, so that this file does not match itself.
const UNFINISHED = /\b(TOD[O]|FIXM[E]|XX[X])\b/

/** Clock and randomness are passed in, so that tests and the simulator can control them. */
export function clockViolations({ path, text }: SourceFile, allowed: string[]): string[] {
  if (!path.startsWith('src/') || isTestCode(path) || isListed(path, allowed)) return []
  return linesMatching(withoutComments(text), CLOCKS).map(
    ([line, found]) => `\`${path}:${line}\` uses ${found}; take a Clock or Random instead`,
  )
}

/** A pause that is long enough today fails on a slower machine and wastes time on a faster one. */
export function sleepViolations({ path, text }: SourceFile, allowed: string[]): string[] {
  if (!isTestCode(path) || path.startsWith('bench/') || isListed(path, allowed)) return []
  return linesMatching(withoutComments(text), SLEEPS).map(
    ([line, found]) => `\`${path}:${line}\` uses ${found}; wait for a condition with waitFor`,
  )
}

export function unfinishedViolations({ path, text }: SourceFile): string[] {
  return linesMatching(text, UNFINISHED).map(
    ([line, found]) => `\`${path}:${line}\` says ${found}; do it, or open an issue`,
  )
}

export function nameViolation(path: string): string | undefined {
  const vague = path
    .replace(/(\.test)?\.tsx?$/, '')
    .split('/')
    .find((part) => VAGUE_NAMES.includes(part))
  return vague && `\`${path}\` is called ${vague}; say what it is about`
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
