import { LIMITS } from '../limits.ts'

/**
 * Output lines by which a process reports progress, groups and errors. They stay in the output like any other line;
 * clients use them for display, and nothing else depends on them.
 */
export type OutputMarker =
  | { readonly kind: 'progress'; readonly fraction: number; readonly text: string }
  | { readonly kind: 'group' | 'error' | 'warning'; readonly text: string }
  | { readonly kind: 'endgroup' }

/** The progress reported by an attempt. */
export interface Progress {
  /** From 0 to 1. */
  readonly fraction: number
  /** The reported text; may be empty. */
  readonly message: string
}

/** Number of bytes of a line that are examined for a marker. */
export const MARKER_BYTES = 4_096
/** Maximum length of the text in a marker. */
const TEXT_LENGTH = LIMITS.progressLength

const START = '::'
const MARK = /^::(progress|group|endgroup|error|warning)::(.*)/
/** `42%`, `42.5%`, `3/7` or `0.42`, followed by a space and text. */
const PROGRESS =
  /^ ?(?:(?<percent>\d{1,3}(?:\.\d{1,6})?)%|(?<done>\d{1,12})\/(?<of>\d{1,12})|(?<part>[01]\.\d{1,9}))(?: (?<words>.*))?$/

/** The marker in a line without its newline, if there is one. */
export function markerOf(line: string): OutputMarker | undefined {
  if (!line.startsWith(START)) return undefined
  const [, kind, rest = ''] = MARK.exec(line.slice(0, MARKER_BYTES)) ?? []
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

function progressOf(rest: string): OutputMarker | undefined {
  const { percent, done, of, part, words = '' } = PROGRESS.exec(rest)?.groups ?? {}
  const fraction = fractionOf({ percent, done, of, part })
  if (!(fraction >= 0 && fraction <= 1)) return undefined
  return { kind: 'progress', fraction, text: words.trim().slice(0, TEXT_LENGTH) }
}

/** NaN if the parts are not a valid fraction. */
function fractionOf(
  parts: Readonly<Record<'percent' | 'done' | 'of' | 'part', string | undefined>>,
) {
  if (parts.percent !== undefined) return Number(parts.percent) / 100
  if (parts.part !== undefined) return Number(parts.part)
  return Number(parts.done) / Number(parts.of)
}
