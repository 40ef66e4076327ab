import { COMPAT_TAG, tagOf } from './tags.ts'

/**
 * `GET /v1/runs/{id}/logs` gives `getRunsIdLogs`: stable ids that need no naming. `GET /jobs` gives
 * `getPlainJobs`: generated clients use the ids, so the compatibility API keeps its earlier word.
 */
export function operationId(method: string, path: string): string {
  const isCompat = tagOf({ method, path }) === COMPAT_TAG
  const words = path.replace(/^\/v1/, '').match(/[A-Za-z]+/g) ?? []
  const all = isCompat ? ['plain', ...words] : words
  return method.toLowerCase() + all.map((word) => word[0]!.toUpperCase() + word.slice(1)).join('')
}
