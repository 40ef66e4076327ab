import { ERRORS, type ErrorCode } from '../../../core/errors.ts'
import { headersOf, headersWith } from '../shapes/headers.ts'
import { ref } from '../shapes/shapes.ts'

const PROBLEM = { 'application/problem+json': { schema: ref('Problem') } }

export const ANY_PROBLEM = {
  description: 'A problem: its code says which, its hint what to do.',
  content: PROBLEM,
}

/** Where the answers that refuse a request are described, by status. */
export function refusalsOf(problems: readonly ErrorCode[]): Record<string, object> {
  return Object.fromEntries(
    [...byStatus(problems)].map(([status, codes]) => [
      status,
      { $ref: `#/components/responses/${nameOf(codes)}` },
    ]),
  )
}

/** Operations refuse in few different ways, so each way is described once. */
export function refusalComponents(all: readonly (readonly ErrorCode[])[]): Record<string, object> {
  const components: Record<string, object> = {}
  for (const [status, codes] of all.flatMap((problems) => [...byStatus(problems)])) {
    components[nameOf(codes)] = {
      description: codes.map((code) => `\`${code}\`: ${ERRORS[code][1]}`).join('\n\n'),
      ...headersOf(headersWith(String(status))),
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
