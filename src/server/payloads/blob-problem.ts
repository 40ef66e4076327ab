import { BlobError } from '../../blobs/port.ts'
import { PunctualError } from '../../core/errors.ts'

/** What went wrong with a blob, as those hear it who wanted its text stored or read. */
export function blobProblem(error: unknown, what: string): unknown {
  if (!(error instanceof BlobError)) return error
  const options = { cause: error }
  switch (error.trouble) {
    case 'full':
      return new PunctualError('storage_full', `no room for the ${what}`, options)
    case 'unavailable':
      return new PunctualError('blobs_unavailable', `the ${what}: ${error.message}`, options)
    case 'missing':
    case 'corrupt':
      return new PunctualError('blob_unreadable', `the ${what}: ${error.message}`, options)
  }
}
