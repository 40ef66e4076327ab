import { ERRORS, type ErrorCode } from '../../../src/core/errors.ts'
import { COMMON_PROBLEMS } from '../../../src/server/api/reference/problems.ts'
import type { WireProblem } from '../../../src/core/wire/runs.ts'
import type { Document } from '../openapi-document.ts'
import { createSchemaCheck } from '../schema-check.ts'
import type { FuzzRequest } from './requests.ts'

export interface FuzzAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly text: string
}

const PROBLEM = { $ref: '#/components/schemas/Problem' }
/** A broken path may be that of another route, or of none. */
const ELSEWHERE: readonly ErrorCode[] = ['not_found', 'method_not_allowed']

/** Describes what is wrong with an answer; undefined if nothing is. */
export function createAnswerChecker(document: Document) {
  const check = createSchemaCheck(document)

  const judgeGood = ({ operation, isBodyValid }: FuzzRequest, answer: FuzzAnswer) => {
    if (isBodyValid === false) return 'it took a body that the reference forbids'
    const declared = operation.responses[answer.status]
    if (!declared) return 'the reference does not know this status'
    const [type, content] = Object.entries(declared.content ?? {})[0] ?? []
    if (typeOf(answer) !== type) return `its type is ${typeOf(answer)}, not ${type}`
    if (type !== 'application/json' || !content) return undefined
    return check(content.schema, JSON.parse(answer.text))
  }

  const judgeProblem = ({ operation, broken }: FuzzRequest, answer: FuzzAnswer) => {
    const { status, headers, text } = answer
    if (typeOf(answer) !== 'application/problem+json') return `its type is ${typeOf(answer)}`
    const problem = JSON.parse(text) as WireProblem
    const known = ERRORS[problem.code as ErrorCode]
    if (!known) return `its code is ${problem.code}`
    if (status >= 500 && status !== 503) return 'it failed'
    if (status === 503 && headers['retry-after'] === undefined) return 'it says not when'
    if (known[0] !== status || problem.status !== status) return 'its statuses differ'
    // Rules of schedules and workflows give a more specific hint than their code.
    const isOwn = OWN_HINTS.has(problem.code) && /^[A-Z].*[.?]$/.test(problem.hint)
    const isHint = isOwn || problem.hint === known[1]
    if (!isHint || !problem.detail) return 'it does not say what to do'
    if (text.length > 2_000) return 'it is long'
    const expected = [...operation['x-problems'], ...COMMON_PROBLEMS]
    if (broken === 'path') expected.push(...ELSEWHERE)
    if (!expected.includes(problem.code)) return `the reference does not expect ${problem.code}`
    const fault = check(PROBLEM, problem)
    return fault && `as a problem, ${fault}`
  }

  return (request: FuzzRequest, answer: FuzzAnswer): string | undefined =>
    answer.status < 300 ? judgeGood(request, answer) : judgeProblem(request, answer)
}

const OWN_HINTS = new Set([
  'invalid_trigger',
  'invalid_schedule',
  'invalid_workflow',
  'invalid_expression',
])

function typeOf({ headers }: FuzzAnswer): string | undefined {
  const type = headers['content-type']
  return typeof type === 'string' ? type.split(';', 1)[0] : undefined
}
