import { ERRORS, type ErrorCode } from '../../../core/errors.ts'
import { responseHeadersOf, headersWith } from '../shapes/headers.ts'
import { refShape } from '../shapes/shapes.ts'

const PROBLEM = { 'application/problem+json': { schema: refShape('Problem') } }

export const ANY_PROBLEM = {
  description: 'A problem: its code identifies it, its hint says what to do.',
  content: PROBLEM,
}

/** References to the error responses of an operation, by status. */
export function refusalsOf(problems: readonly ErrorCode[]): Record<string, object> {
  return Object.fromEntries(
    [...byStatus(problems)].map(([status, codes]) => [
      status,
      { $ref: `#/components/responses/${nameOf(codes)}` },
    ]),
  )
}

/**
 * Error responses as components: operations share few different sets, so each is described once.
 */
export function refusalComponents(all: readonly (readonly ErrorCode[])[]): Record<string, object> {
  const components: Record<string, object> = {}
  for (const [status, codes] of all.flatMap((problems) => [...byStatus(problems)])) {
    components[nameOf(codes)] = {
      description: codes.map((code) => `\`${code}\`: ${ERRORS[code][1]}`).join('\n\n'),
      ...responseHeadersOf(headersWith(String(status))),
      content: PROBLEM,
    }
  }
  return components
}

function nameOf(codes: readonly ErrorCode[]): string {
  return codes.join('.')
}

function byStatus(codes: readonly ErrorCode[]): Map<number, ErrorCode[]> {
  const statuses = new Map<number, ErrorCode[]>()
  for (const code of codes) {
    const [status] = ERRORS[code]
    statuses.set(status, [...(statuses.get(status) ?? []), code])
  }
  return new Map([...statuses].sort(([a], [b]) => a - b))
}
