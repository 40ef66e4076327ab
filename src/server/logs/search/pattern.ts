import { RE2JS, RE2JSSyntaxException } from 're2js'
import { PunctualError } from '../../../core/errors.ts'
import { trigramBits } from '../trigrams.ts'
import { requiredLiterals } from './required-literals.ts'

/** A search query. */
export interface LogQuery {
  readonly text: string
  readonly mode: 'literal' | 'regex'
  readonly ignoresCase: boolean
}

export interface Matcher {
  /** The first match in a line. */
  find(line: string): { readonly index: number; readonly length: number } | null
  /** False if none of these lines matches; true if one may. */
  mayOccur(lines: string): boolean
}

/**
 * Matching never backtracks, whatever the pattern: a search takes time linear in the text.
 * JavaScript's own regular expressions can take exponential time.
 */
export function createMatcher(query: LogQuery): Matcher {
  return query.mode === 'literal' ? literal(query) : regular(query)
}

function literal({ text, ignoresCase }: LogQuery): Matcher {
  if (!ignoresCase) {
    return {
      find(line) {
        const index = line.indexOf(text)
        return index < 0 ? null : { index, length: text.length }
      },
      mayOccur: (lines) => lines.includes(text),
    }
  }
  // Without repetition in the pattern there is no backtracking.
  const pattern = new RegExp(text.replace(SPECIAL, String.raw`\$&`), 'iu')
  return {
    find(line) {
      const match = pattern.exec(line)
      return match && { index: match.index, length: match[0].length }
    },
    mayOccur: (lines) => pattern.test(lines),
  }
}

const SPECIAL = /[\\^$.*+?()[\]{}|/]/g

/**
 * These match the beginning and end of a text; applied to several lines at once they would differ.
 */
const BOUND_TO_TEXT = /\\[AzZ]|\(\?/

function regular({ text, ignoresCase }: LogQuery): Matcher {
  const flags = ignoresCase ? RE2JS.CASE_INSENSITIVE : 0
  const line = compile(text, flags)
  const many = BOUND_TO_TEXT.test(text) ? undefined : compile(text, flags | RE2JS.MULTILINE)
  return {
    find(given) {
      if (!line.test(given)) return null
      const matcher = line.matcher(given)
      if (!matcher.find()) return null
      const index = matcher.start()
      return { index, length: matcher.end() - index }
    },
    mayOccur: (lines) => many?.test(lines) ?? true,
  }
}

function compile(text: string, flags: number): RE2JS {
  try {
    return RE2JS.compile(text, flags)
  } catch (error) {
    if (!(error instanceof Error)) throw error
    throw refused(text, error)
  }
}

function refused(text: string, error: Error): PunctualError {
  const [what, part] =
    error instanceof RE2JSSyntaxException
      ? [error.getDescription(), error.getPattern() ?? '']
      : ['it is too large', '']
  const at = part === '' ? -1 : text.lastIndexOf(part)
  const where = at < 0 ? '' : ` at character ${at + 1}, near "${part.slice(0, 40)}"`
  const message = `q is no regular expression in the syntax of RE2: ${what}${where}`
  return new PunctualError('invalid_field', message, { field: 'q', cause: error })
}

/** Filter bits of all chunks that can contain it; none if that is unknown. */
export function filterBitsOf({ text, mode, ignoresCase }: LogQuery): number[] {
  const literals = mode === 'literal' ? [text] : requiredLiterals(text)
  const plain = ignoresCase ? literals.flatMap(withOneFold) : literals
  return [...new Set(plain.flatMap(trigramBits))]
}

/**
 * Filters ignore case only for ASCII; and k and s have a third form (the Kelvin sign, the long s)
 * that a case-insensitive search also finds.
 */
function withOneFold(text: string): string[] {
  return text.split(/[ksKS\u0080-\u{10FFFF}]+/u)
}
