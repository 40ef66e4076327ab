import { publicId } from '../../core/ids.ts'

export type PayloadKind = 'input' | 'result'

/** What stands in a row in place of a text that is kept as a blob. */
export interface Reference {
  /** How long the text is, in UTF-8. */
  readonly bytes: number
  /** The blob's name within the area of this store. */
  readonly name: string
}

/**
 * No JSON begins with it. Inputs are JSON because we wrote them; a result is whatever a worker sent,
 * and `withoutMark` sees to it that none of those begins with it either.
 */
const MARK = '@'
const REFERENCE = /^@(\d{1,10}) ((run_[0-9a-z]{11})-(?:input|result)-[0-9a-f]{8}-[0-9a-f]{64})$/

/** One character is looked at: this is asked of every input and result there is. */
export function mayBeReference(text: string | null): text is string {
  return text !== null && text.charCodeAt(0) === 64
}

export function writeReference({ bytes, name }: Reference): string {
  return `${MARK}${bytes} ${name}`
}

/** Undefined for a text that only looks like one: a run can refer to nothing but its own. */
export function readReference(runId: number, text: string | null): Reference | undefined {
  if (!mayBeReference(text)) return undefined
  const [, bytes, name, owner] = REFERENCE.exec(text) ?? []
  if (name === undefined || owner !== publicId('run', runId)) return undefined
  return { bytes: Number(bytes), name }
}

/** A text that is no JSON is shown as a text, and as JSON it is the same text. */
export function withoutMark(text: string): string {
  return mayBeReference(text) ? JSON.stringify(text) : text
}

/** Everything of a blob's name but its digest. */
export function labelOf(runId: number, kind: PayloadKind, nonce: number): string {
  return `${publicId('run', runId)}-${kind}-${nonce.toString(16).padStart(8, '0')}`
}

const NAME = /^(run_[0-9a-z]{11})-(input|result)-/

/** Whose blob this is, and which of its texts. */
export function ownerOf(name: string): { run: string; kind: PayloadKind } | undefined {
  const [, run, kind] = NAME.exec(name) ?? []
  return run === undefined ? undefined : { run, kind: kind as PayloadKind }
}
