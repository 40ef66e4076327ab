import type { TransportCall, Transport } from './transport.ts'

export type JsonCall = <T>(
  method: TransportCall['method'],
  path: string,
  body?: object,
  idempotencyKey?: string,
) => Promise<T>

/** Calls with JSON requests and answers. Idempotent calls are retried. */
export function jsonCalls(transport: Transport): JsonCall {
  return async <T>(method: TransportCall['method'], path: string, body?: object, key?: string) => {
    const mayRepeat = method === 'GET' || method === 'PUT' || key !== undefined
    const text = body === undefined ? {} : { body: JSON.stringify(body) }
    return (await transport.call({ method, path, ...text, mayRepeat, idempotencyKey: key })) as T
  }
}

export function pathOfSchedule(job: string, name: string): string {
  return `/v1/jobs/${encodeURIComponent(job)}/schedules/${encodeURIComponent(name)}`
}

export function search(query: object): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) parameters.set(name, String(value))
  }
  return parameters.size === 0 ? '' : `?${parameters.toString()}`
}
