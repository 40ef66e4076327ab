import type { EndedCommand } from './shell-hazards.ts'
import { hazardOf } from './shell-hazards.ts'
import { shortened } from '../expression-error.ts'

/** A place where a program of the step may execute the value of an expression. */
export interface ValueWarning {
  readonly code: 'value_may_run'
  readonly message: string
  readonly hint: string
  readonly field: string
  /** The position in the field that the warning is about. */
  readonly at: number
  readonly length: number
}

export type OnWarning = (warning: ValueWarning) => void

export const AS_DATA =
  'Pass the value to a program that reads it as data: as an argument, or in `env`.'

/** A warning about a whole field. */
export function fieldWarning(field: string, what: string, text: string): ValueWarning {
  const message = `${field}: ${what}; a value that gets there is executed`
  return { code: 'value_may_run', field, at: 0, length: text.length, message, hint: AS_DATA }
}

const OPEN = '${{'

/** Collects the warnings about the commands of one text, with their positions in the field. */
export function createShellWarnings(text: string, field: string) {
  /** For each segment of literal text, in order: its start in the text as read, and in the field. */
  const segments: { readonly from: number; readonly at: number }[] = []
  const found: { readonly at: number; readonly why: string }[] = []
  let read = 0
  let at = 0

  const placeOf = (position: number): number => {
    let low = 0
    for (let high = segments.length; high - low > 1;) {
      const middle = (low + high) >> 1
      if (segments[middle]!.from <= position) low = middle
      else high = middle
    }
    const segment = segments[low]
    return segment && segment.from <= position ? segment.at + position - segment.from : 0
  }

  const warn = (place: number, why: string): ValueWarning => {
    const [word = ''] = /^[^\s;|&()<>]+/.exec(text.slice(place)) ?? []
    const name = word === '' ? 'it' : `\`${shortened(word)}\``
    return {
      code: 'value_may_run',
      field,
      at: place,
      length: Math.max(1, word.length),
      message: `${field}: ${name} ${why}; a value that gets there is executed`,
      hint: AS_DATA,
    }
  }

  return {
    onCommand(command: EndedCommand, position: number): void {
      const why = hazardOf(command)
      if (why !== undefined) found.push({ at: position, why })
    },
    literal(part: string): void {
      // `$${{` in the field has one character that is not part of the text; a new segment begins after it.
      for (let from = 0; ;) {
        segments.push({ from: read + from, at: at + from })
        const open = part.indexOf(OPEN, from)
        if (open < 0) break
        from = open + OPEN.length
        at += 1
      }
      read += part.length
      at += part.length
    },
    value(written: string): void {
      at += written.length
    },
    /** In text that can no longer be tracked, the check falls back to the names of programs. */
    all(lostAt: number | undefined): ValueWarning[] {
      const warnings = found.map((one) => warn(placeOf(one.at), one.why))
      if (lostAt === undefined) return warnings
      const from = placeOf(lostAt)
      const named = READS_PROGRAMS.exec(text.slice(from))
      if (named) warnings.push(warn(from + named.index + named[1]!.length, 'may read a program'))
      return warnings
    },
  }
}

const READS_PROGRAMS =
  /(^|[\s;|&(`/])(?:sh|bash|dash|ash|ksh|zsh|eval|source|xargs|parallel|ssh|python[\d.]*|perl|ruby|node|php)(?=$|[\s;|&)`<>])/
