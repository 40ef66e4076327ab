import type { FastifyReply, FastifyRequest } from 'fastify'
import { PunctualError } from '../../../core/errors.ts'
import { LIMITS } from '../../../core/limits.ts'
import type { Submission, SubmitAnswer } from '../../../core/wire/protocol.ts'
import type { RouteDocs } from './route-docs.ts'

/** Leaves space for `#9999`, so that every run of a batch has a key of legal length. */
const KEY_LENGTH = LIMITS.keyLength - `#${LIMITS.batchRuns}`.length
const KEY = /^[\x21-\x7e]+$/

export function idempotencyKeyOf(request: FastifyRequest): string | undefined {
  const key = request.headers['idempotency-key']
  if (key === undefined) return undefined
  if (typeof key === 'string' && key.length <= KEY_LENGTH && KEY.test(key)) return key
  const message = `the header Idempotency-Key must be 1 to ${KEY_LENGTH} visible ASCII characters`
  throw new PunctualError('invalid_request', message, { field: 'Idempotency-Key' })
}

/** The header key covers the request as a whole; a run with its own key as well is ambiguous. */
export function withKey(submission: Submission, key: string | undefined, at = ''): Submission {
  if (key === undefined) return submission
  if (submission.idempotencyKey === undefined) return { ...submission, idempotencyKey: key }
  const field = `${at}idempotency_key`
  throw new PunctualError('invalid_field', `send either ${field} or the header Idempotency-Key`, {
    field,
  })
}

/** Documentation of routes that use `answerRun`. */
export const SUBMIT_DOCS = {
  answers: { 201: 'Submitted', 200: 'Submitted' },
  takes: ['Idempotency-Key'],
  gives: { 200: ['Idempotency-Replayed'] },
  problems: [
    'invalid_id',
    'run_not_found',
    'job_not_found',
    'secret_not_found',
    'idempotency_mismatch',
    'too_many_lanes',
    'overloaded',
    'blobs_unavailable',
    'storage_full',
  ],
} as const satisfies RouteDocs

/** 201 and the new run; 200 and the existing one for a repeated request. */
export function answerRun(request: FastifyRequest, reply: FastifyReply, answer: SubmitAnswer) {
  const isRepeat = !answer.created && request.headers['idempotency-key'] !== undefined
  if (isRepeat) reply.header('idempotency-replayed', 'true')
  return reply.code(answer.created ? 201 : 200).send(answer)
}
