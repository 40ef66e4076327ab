import { BlobError } from '../../blobs/port.ts'
import { PunctualError } from '../../core/errors.ts'
import { storeProblem } from '../health/store-problem.ts'

/** Translates a blob error for the caller that wanted the text stored or read. */
export function blobProblem(error: unknown, what: string): unknown {
  if (!(error instanceof BlobError)) return error
  const options = { cause: error }
  switch (error.kind) {
    case 'full':
      return new PunctualError('storage_full', noRoom(what, error.freeSpace), options)
    case 'unavailable':
      // Of blobs that are rows of the store.
      return (
        storeProblem(error.cause) ??
        new PunctualError('blobs_unavailable', `the ${what}: ${error.message}`, options)
      )
    case 'missing':
    case 'corrupt':
      return new PunctualError('blob_unreadable', `the ${what}: ${error.message}`, options)
  }
}

function noRoom(what: string, freeSpace: string | undefined): string {
  const where = freeSpace === undefined ? '' : `: the disk is full: ${freeSpace}`
  return `no room for the ${what}${where}`
}
