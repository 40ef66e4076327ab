import type { FastifyRequest } from 'fastify'
import { PunctualError } from '../../core/errors.ts'
import { LIMITS } from '../../core/limits.ts'
import type { Submission as Submitted } from '../../core/protocol.ts'
import type { SubmitOutcome } from '../../core/submit-outcome.ts'
import { readSubmission, type WireOutcome, type WireSubmission } from '../../core/wire.ts'
import { projectOf, requirePermission } from './access.ts'
import type { Api, ApiOptions } from './api.ts'
import { checkInput } from './input-check.ts'
import { problemOf } from './problem.ts'
import { Batch, Submission } from './submission-schema.ts'

export function submitRoutes(api: Api, { clientFor }: Pick<ApiOptions, 'clientFor'>): void {
  const config = { permission: 'operate' } as const

  api.route({
    method: 'POST',
    url: '/v1/runs',
    config,
    schema: { summary: 'Submit a run', body: Submission },
    handler: async (request, reply) => {
      const submission = withHeaderKey(request, toSubmission(request.body, ''))
      if (submission.work) requirePermission(request, 'define')
      const client = clientFor(projectOf(request), request.caller.tokenId)
      const [answer] = await client.submit([submission])
      return reply.code(answer?.created ? 201 : 200).send(answer)
    },
  })

  api.route({
    method: 'POST',
    url: '/v1/runs::batch',
    config,
    schema: { summary: 'Submit many runs', body: Batch },
    bodyLimit: LIMITS.batchBodyBytes,
    handler: async (request) => {
      const key = idempotencyKeyOf(request)
      const submissions = request.body.runs.map((run, index) => {
        const at = `runs.${index}.`
        const submission = toSubmission(run, at)
        return key === undefined ? submission : withKey(submission, `${key}#${index}`, at)
      })
      if (submissions.some(({ work }) => work)) requirePermission(request, 'define')
      const client = clientFor(projectOf(request), request.caller.tokenId)
      const outcomes = await client.submitEach(submissions)
      return { runs: outcomes.map((outcome, index) => writeOutcome(outcome, index, request.id)) }
    },
  })
}

/** The refusal of one run stands in its place: the others are stored. */
function writeOutcome(outcome: SubmitOutcome, index: number, requestId: string): WireOutcome {
  if (!(outcome instanceof PunctualError)) return outcome
  const { field, ...problem } = problemOf(outcome, requestId)
  return { error: { ...problem, ...(field ? { field: `runs.${index}.${field}` } : {}) } }
}

function toSubmission(wire: WireSubmission, at: string): Submitted {
  checkInput(wire.input, `${at}input`)
  return readSubmission(wire, at)
}

/** A submission with the key of its request, if that has one. */
export function withHeaderKey(request: FastifyRequest, submission: Submitted): Submitted {
  return withKey(submission, idempotencyKeyOf(request), '')
}

/** The header keys the request as a whole; a run that brings its own key as well is ambiguous. */
function withKey(submission: Submitted, key: string | undefined, at: string): Submitted {
  if (key === undefined) return submission
  if (submission.idempotencyKey === undefined) return { ...submission, idempotencyKey: key }
  const field = `${at}idempotency_key`
  throw new PunctualError('invalid_field', `send either ${field} or the header Idempotency-Key`, {
    field,
  })
}

/** Leaves room for `#9999`, so that every run of a batch has a key of legal length. */
const KEY_LENGTH = LIMITS.keyLength - `#${LIMITS.batchRuns}`.length
const KEY = /^[\x21-\x7e]+$/

function idempotencyKeyOf(request: FastifyRequest): string | undefined {
  const key = request.headers['idempotency-key']
  if (key === undefined) return undefined
  if (typeof key === 'string' && key.length <= KEY_LENGTH && KEY.test(key)) return key
  const message = `the header Idempotency-Key must be 1 to ${KEY_LENGTH} visible ASCII characters`
  throw new PunctualError('invalid_request', message, { field: 'Idempotency-Key' })
}
