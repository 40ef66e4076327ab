/** Blobs as rows, for installations without other storage that all nodes can reach. */
export interface BlobRows {
  /**
   * A name that no other database has, created with its schema: several databases may keep their
   * blobs in one place, and none may treat another's blobs as orphans.
   */
  identity(): Promise<string>
  /** Written with the store's clock; an existing key gets these bytes and a new age. */
  putBlob(input: { key: string; bytes: Uint8Array }): Promise<void>
  /** `length` bytes from `from` on, or as many as there are; null if there is no such blob. */
  getBlob(input: { key: string; from: number; length: number }): Promise<Uint8Array | null>
  deleteBlobs(keys: readonly string[]): Promise<void>
  /** Keys with this prefix after `after`, in order, each with its age by the store's clock. */
  listBlobs(input: { prefix: string; after: string; limit: number }): Promise<readonly BlobRow[]>
}

export interface BlobRow {
  readonly key: string
  readonly ageMs: number
}
