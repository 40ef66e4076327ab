/**
 * Large texts and files, stored outside of the rows that name them. A blob is written once, as a
 * whole, under a unique name, and is durable when `put` resolves: a row that is committed
 * afterwards never names a missing blob. A blob without a row is an orphan, which a later sweep
 * finds by its age and deletes.
 */
export interface Blobs {
  readonly kind: 'fs' | 'store'
  /** The location, for people. */
  readonly place: string
  /** Resolves with the key, which ends in the digest of the bytes. */
  put(name: BlobName, bytes: Uint8Array): Promise<string>
  /**
   * A whole blob is checked against its digest and refused as `corrupt` if it differs. A part
   * cannot be checked, and is shorter if the blob ends before it does.
   */
  get(key: string, part?: BlobPart): Promise<Uint8Array>
  /** Deleting a missing blob is not an error. */
  delete(keys: readonly string[]): Promise<void>
  /** Examines at most `limit` blobs of an area in a stable order; call again with `next`. */
  list(input: ListBlobs): Promise<BlobPage>
  /** Fails if `put` would fail now. */
  check(): Promise<void>
}

export interface BlobName {
  /** The group of blobs that are listed together. Digits and lower-case letters. */
  readonly area: string
  /** Unique among the blobs of the area: digits, lower-case letters, `_` and `-`. */
  readonly label: string
}

export interface BlobPart {
  readonly from: number
  readonly length: number
}

export interface ListBlobs {
  readonly area: string
  /** The end of the previous page. */
  readonly after: string | null
  /** Excludes younger blobs. Ages are measured by the clock that dated them. */
  readonly olderThanMs: number
  readonly limit: number
}

export interface BlobPage {
  readonly keys: readonly string[]
  /** Null at the end of the list. */
  readonly next: string | null
}

/**
 * `missing`: the blob does not exist. `corrupt`: its bytes have changed. `full`: there is no space.
 * `unavailable`: the storage did not answer; retry later.
 */
export type BlobErrorKind = 'missing' | 'corrupt' | 'full' | 'unavailable'

export interface BlobErrorOptions extends ErrorOptions {
  /** Of `full`: the path and its free space, for people. */
  readonly freeSpace?: string
}

export class BlobError extends Error {
  readonly kind: BlobErrorKind
  readonly freeSpace: string | undefined

  constructor(
    kind: BlobErrorKind,
    message: string,
    { freeSpace, ...options }: BlobErrorOptions = {},
  ) {
    super(message, options)
    this.name = 'BlobError'
    this.kind = kind
    this.freeSpace = freeSpace
  }
}
