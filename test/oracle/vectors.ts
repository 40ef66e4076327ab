import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readRule, type RuleSource } from '../../src/core/schedule/index.ts'

/** One test case of another project. */
export interface Vector {
  readonly expr: string
  readonly zone: string
  /** Absent if the case only tests whether the expression is accepted. */
  readonly after: string | null
  /**
   * An instant: the next fire; `!` an instant that is not the next; `>=` no fire before it; null: never fires;
   * `error`: refused; `ok`: accepted.
   */
  readonly expect: string | null
}

export interface PlacedVector extends Vector {
  readonly file: string
  readonly line: number
}

/** Punctual's result for an expression. */
export type PunctualAnswer =
  | { readonly kind: 'refused'; readonly message: string }
  | { readonly kind: 'taken' }
  | { readonly kind: 'next'; readonly at: number | null }

/** All lines of the `.jsonl` files of a directory. */
export function readVectors(directory: string): PlacedVector[] {
  const files = readdirSync(directory).filter((name) => name.endsWith('.jsonl'))
  return files.toSorted().flatMap((file) =>
    readFileSync(join(directory, file), 'utf8')
      .split('\n')
      .flatMap((text, index) => (text.trim() === '' ? [] : [readLine(text, file, index + 1)])),
  )
}

function readLine(text: string, file: string, line: number): PlacedVector {
  const found = parse(text)
  const { expr, zone = 'UTC', after = null, expect } = (found ?? {}) as Partial<Vector>
  const isTime = after === null || !Number.isNaN(Date.parse(after))
  if (typeof expr === 'string' && expect !== undefined && isTime) {
    return { expr, zone: zone ?? 'UTC', after, expect, file, line }
  }
  throw new Error(`${file}:${line} is not a vector: it needs expr and expect, and after as a time`)
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export function answerTo(source: RuleSource, after: string | null): PunctualAnswer {
  const reading = readRule(source)
  if (!reading.ok) return { kind: 'refused', message: reading.problem.message }
  if (after === null) return { kind: 'taken' }
  return { kind: 'next', at: reading.rule.next(Date.parse(after)) }
}

/** Whether a result is what a vector expects. */
export function agrees(expect: string | null, answer: PunctualAnswer): boolean {
  // Punctual refuses a rule that never fires; others accept it without a fire.
  const isNever = answer.kind === 'refused' && answer.message.startsWith('it never fires')
  const at = answer.kind === 'next' ? answer.at : undefined
  if (expect === null) return isNever || at === null
  if (expect === 'error') return answer.kind === 'refused'
  if (expect === 'ok') return answer.kind !== 'refused'
  if (expect.startsWith('>=')) {
    return isNever || at === null || (at !== undefined && at >= Date.parse(expect.slice(2)))
  }
  if (expect.startsWith('!')) return at !== undefined && at !== Date.parse(expect.slice(1))
  return at === Date.parse(expect)
}

export function describeAnswer(answer: PunctualAnswer): string {
  if (answer.kind === 'refused') return `refused: ${answer.message}`
  if (answer.kind === 'taken') return 'taken'
  return answer.at === null ? 'never' : new Date(answer.at).toISOString()
}
