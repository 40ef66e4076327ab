import { LIMITS } from '../limits.ts'

/**
 * Lines by which a process says something about itself. They are output like any other and stay in it;
 * who reads them can show a bar, fold a group or find an error, and nothing else follows from them.
 */
export type Mark =
  | { readonly kind: 'progress'; readonly fraction: number; readonly text: string }
  | { readonly kind: 'group' | 'error' | 'warning'; readonly text: string }
  | { readonly kind: 'endgroup' }

/** How far an attempt says it is. */
export interface Progress {
  /** From 0 to 1. */
  readonly fraction: number
  /** What it says besides; may be empty. */
  readonly message: string
}

/** What is read of a line; the rest of a longer one is not looked at. */
export const MARK_BYTES = 4_096
/** What is kept of the words in it. */
const TEXT_LENGTH = LIMITS.progressLength

const START = '::'
const MARK = /^::(progress|group|endgroup|error|warning)::(.*)/
/** `42%`, `42.5%`, `3/7` or `0.42`, and after a space, words. */
const PROGRESS =
  /^ ?(?:(?<percent>\d{1,3}(?:\.\d{1,6})?)%|(?<done>\d{1,12})\/(?<of>\d{1,12})|(?<part>[01]\.\d{1,9}))(?: (?<words>.*))?$/

/** The mark that a line is, without its newline. */
export function markOf(line: string): Mark | undefined {
  if (!line.startsWith(START)) return undefined
  const [, kind, rest = ''] = MARK.exec(line.slice(0, MARK_BYTES)) ?? []
  const text = rest.trim().slice(0, TEXT_LENGTH)
  switch (kind) {
    case 'progress':
      return progressOf(rest.trimEnd())
    case 'endgroup':
      return text === '' ? { kind } : undefined
    case 'group':
    case 'error':
    case 'warning':
      return { kind, text }
    default:
      return undefined
  }
}

function progressOf(rest: string): Mark | undefined {
  const { percent, done, of, part, words = '' } = PROGRESS.exec(rest)?.groups ?? {}
  const fraction = fractionOf({ percent, done, of, part })
  if (!(fraction >= 0 && fraction <= 1)) return undefined
  return { kind: 'progress', fraction, text: words.trim().slice(0, TEXT_LENGTH) }
}

/** Not a number if it is none, or none that could be part of a whole. */
function fractionOf(
  said: Readonly<Record<'percent' | 'done' | 'of' | 'part', string | undefined>>,
) {
  if (said.percent !== undefined) return Number(said.percent) / 100
  if (said.part !== undefined) return Number(said.part)
  return Number(said.done) / Number(said.of)
}
