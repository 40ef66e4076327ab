/** Blobs as rows, for installations that have nowhere else to put them that all nodes can reach. */
export interface BlobRows {
  /**
   * A name that no other database has, made with its schema: several databases may keep their blobs
   * in one place, and none may take another's for orphans.
   */
  identity(): Promise<string>
  /** Written with the store's clock; a key that is there already gets these bytes and a new age. */
  putBlob(input: { key: string; bytes: Uint8Array }): Promise<void>
  /** `length` bytes from `from` on, or what there is of them; null if there is no such blob. */
  getBlob(input: { key: string; from: number; length: number }): Promise<Uint8Array | null>
  deleteBlobs(keys: readonly string[]): Promise<void>
  /** Keys with this prefix that follow `after`, in order; how old each is, by the store's clock. */
  listBlobs(input: { prefix: string; after: string; limit: number }): Promise<readonly BlobRow[]>
}

export interface BlobRow {
  readonly key: string
  readonly ageMs: number
}
