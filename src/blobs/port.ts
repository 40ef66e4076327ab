/**
 * Large texts and files, kept outside the rows that name them. A blob is written once, whole, under a
 * name that is never used for anything else, and it is durable when `put` resolves: so a row that is
 * committed afterwards never names what is not there. Whoever writes no such row leaves an orphan,
 * which is found by its age and deleted by whoever looks.
 */
export interface Blobs {
  readonly kind: 'fs' | 'store'
  /** For people: where they are. */
  readonly place: string
  /** Resolves with the key, which ends in the digest of the bytes. */
  put(name: BlobName, bytes: Uint8Array): Promise<string>
  /**
   * A whole blob is held to its digest, and refused as `corrupt` if it is another's; a part of one
   * cannot be, and comes shorter where the blob ends before it does.
   */
  get(key: string, part?: BlobPart): Promise<Uint8Array>
  /** What is not there is deleted already. */
  delete(keys: readonly string[]): Promise<void>
  /** Looks at no more than `limit` blobs of an area, in some order; call again with `next`. */
  list(input: ListBlobs): Promise<BlobPage>
  /** Fails as `put` would now. */
  check(): Promise<void>
}

export interface BlobName {
  /** Whose blobs these are: what is listed together. Digits and small letters. */
  readonly area: string
  /** What nobody else calls a blob of this area: digits, small letters, `_` and `-`. */
  readonly label: string
}

export interface BlobPart {
  readonly from: number
  readonly length: number
}

export interface ListBlobs {
  readonly area: string
  /** Where the page before ended. */
  readonly after: string | null
  /** Younger ones are left out. Measured by the clock that wrote them, so no two are compared. */
  readonly olderThanMs: number
  readonly limit: number
}

export interface BlobPage {
  readonly keys: readonly string[]
  /** Null when all have been looked at. */
  readonly next: string | null
}

/**
 * `missing`: it is not there. `corrupt`: what is there is not what was written. `full`: there is no
 * room for it. `unavailable`: it may be there or not, and can be asked for again.
 */
export type BlobTrouble = 'missing' | 'corrupt' | 'full' | 'unavailable'

export class BlobError extends Error {
  readonly trouble: BlobTrouble

  constructor(trouble: BlobTrouble, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'BlobError'
    this.trouble = trouble
  }
}
