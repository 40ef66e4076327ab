import { publicId } from '../../core/ids.ts'

export type PayloadKind = 'input' | 'result'

/** A reference in a row, in place of a text that is stored as a blob. */
export interface PayloadReference {
  /** Length of the text in UTF-8. */
  readonly bytes: number
  /** The blob's name within the area of this store. */
  readonly name: string
}

/**
 * No JSON begins with it. Inputs are JSON that this server wrote; a result is any text from a
 * worker, and `withoutMark` ensures that none of those begins with it either.
 */
const MARK = '@'
const REFERENCE = /^@(\d{1,10}) ((run_[0-9a-z]{11})-(?:input|result)-[0-9a-f]{8}-[0-9a-f]{64})$/

/** A check of one character, because it runs for every input and result. */
export function mayBeReference(text: string | null): text is string {
  return text !== null && text.charCodeAt(0) === 64
}

export function writeReference({ bytes, name }: PayloadReference): string {
  return `${MARK}${bytes} ${name}`
}

/** Undefined for a text that only looks like a reference: a run can refer only to its own blobs. */
export function readReference(runId: number, text: string | null): PayloadReference | undefined {
  if (!mayBeReference(text)) return undefined
  const [, bytes, name, owner] = REFERENCE.exec(text) ?? []
  if (name === undefined || owner !== publicId('run', runId)) return undefined
  return { bytes: Number(bytes), name }
}

/** A text that is not JSON is shown as a string; as a JSON string it stays the same text. */
export function withoutMark(text: string): string {
  return mayBeReference(text) ? JSON.stringify(text) : text
}

/** The name of a blob without its digest. */
export function blobLabelOf(runId: number, kind: PayloadKind, nonce: number): string {
  return `${publicId('run', runId)}-${kind}-${nonce.toString(16).padStart(8, '0')}`
}

const NAME = /^(run_[0-9a-z]{11})-(input|result)-/

/** The run of a blob, and which of its texts it is. */
export function blobOwnerOf(name: string): { run: string; kind: PayloadKind } | undefined {
  const [, run, kind] = NAME.exec(name) ?? []
  return run === undefined ? undefined : { run, kind: kind as PayloadKind }
}
