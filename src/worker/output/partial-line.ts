import { unfinishedBytes } from '../../core/run/output.ts'

/** The beginning of a line whose end has not arrived yet. */
export class PartialLine {
  #pieces: Buffer[] = []
  length = 0

  push(bytes: Buffer): void {
    if (bytes.length === 0) return
    this.#pieces.push(bytes)
    this.length += bytes.length
  }

  /**
   * Returns the line and what follows it; without `whole`, except an incomplete character at its
   * end.
   */
  take(whole: boolean, more: Buffer = Buffer.alloc(0)): Buffer {
    const bytes = this.#pieces.length === 0 ? more : Buffer.concat([...this.#pieces, more])
    const kept = whole ? 0 : unfinishedBytes(bytes)
    this.#pieces = kept > 0 ? [bytes.subarray(bytes.length - kept)] : []
    this.length = kept
    return bytes.subarray(0, bytes.length - kept)
  }
}
