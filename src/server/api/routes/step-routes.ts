import { Type } from 'typebox'
import type { Json } from '../../../core/expression/expression.ts'
import { SHOWN_STEP_STATES } from '../../../core/wire/workflow-view.ts'
import { LIMITS } from '../../../core/limits.ts'
import { projectOf } from '../http/access.ts'
import type { Administration } from '../../admin/administration.ts'
import type { Api, ApiOptions } from '../http/api.ts'
import { fields, name, oneOf, boundedText, wholeNumber } from '../../../core/schema/fields.ts'
import { checkInputAtOnce } from '../http/validation/input-check.ts'
import {
  requestedByOf,
  cursorParameter,
  IdPathSchema,
  limitParameter,
  NamePathSchema,
  PagingSchema,
  readPaging,
  readRunId,
  disconnectSignal,
} from '../http/request.ts'

const reason = Type.Optional(boundedText(LIMITS.reasonLength))

export const StepApprovalSchema = fields({ input: Type.Optional(Type.Unknown()), message: reason })
export const StepRefusalSchema = fields({ message: reason })
export const StepSkipSchema = fields({ item: Type.Optional(wholeNumber(0, LIMITS.steps - 1)) })

const StepPath = fields({ id: Type.String(), step: name() })
const ListParameters = fields({
  state: Type.Optional(oneOf(SHOWN_STEP_STATES)),
  limit: limitParameter,
  cursor: cursorParameter,
})
const STEP_URL = '/v1/runs/:id/steps/:step'

const readAccess = { permission: 'read' } as const
const deciding = { permission: 'operate', bodyIsOptional: true } as const
const unknown = ['run_not_found', 'step_not_found'] as const
const decided = {
  answers: { 200: 'Step' },
  problems: [...unknown, 'step_not_waiting', 'run_is_final'],
} as const

/** Workflow steps: reading them, and decisions of users about them. */
export function stepRoutes(api: Api, { admin }: Pick<ApiOptions, 'admin'>): void {
  readRoutes(api, admin.steps)
  decisionRoutes(api, admin.steps)
  jobStepRoutes(api, admin.steps)
}

function readRoutes(api: Api, steps: Administration['steps']): void {
  const params = StepPath

  api.route({
    method: 'GET',
    url: '/v1/runs/:id/steps',
    config: {
      ...readAccess,
      list: true,
      reference: { answers: { 200: 'StepPage' }, problems: unknown },
    },
    schema: {
      summary: 'List the steps of a run',
      params: IdPathSchema,
      querystring: ListParameters,
    },
    handler: (request) => {
      const { state } = request.query
      const query = { state, ...readPaging(request.query) }
      return steps.steps(projectOf(request), readRunId(request.params.id), query)
    },
  })

  api.route({
    method: 'GET',
    url: STEP_URL,
    config: { ...readAccess, reference: { answers: { 200: 'Step' }, problems: unknown } },
    schema: { summary: 'Show a step of a run', params },
    handler: (request) => {
      const { id, step } = request.params
      return steps.step(projectOf(request), readRunId(id), step)
    },
  })

  api.route({
    method: 'GET',
    url: `${STEP_URL}/items`,
    config: {
      ...readAccess,
      list: true,
      reference: { answers: { 200: 'StepItemPage' }, problems: unknown },
    },
    schema: { summary: 'List the items of a fan-out', params, querystring: PagingSchema },
    handler: (request) => {
      const { id, step } = request.params
      return steps.items(projectOf(request), readRunId(id), step, readPaging(request.query))
    },
  })
}

function decisionRoutes(api: Api, steps: Administration['steps']): void {
  const params = StepPath

  api.route({
    method: 'POST',
    url: `${STEP_URL}/approve`,
    config: { ...deciding, reference: decided },
    schema: { summary: 'Approve a step', params, body: StepApprovalSchema },
    handler: (request, reply) => {
      const { id, step } = request.params
      const { input, message } = request.body
      checkInputAtOnce(input, 'input')
      const answer = { isGiven: true, input: input as Json | undefined, message }
      return steps.answer(answererOf(request), readRunId(id), step, answer, disconnectSignal(reply))
    },
  })

  api.route({
    method: 'POST',
    url: `${STEP_URL}/refuse`,
    config: { ...deciding, reference: decided },
    schema: { summary: 'Reject a step', params, body: StepRefusalSchema },
    handler: (request, reply) => {
      const { id, step } = request.params
      const answer = { isGiven: false, ...request.body }
      return steps.answer(answererOf(request), readRunId(id), step, answer, disconnectSignal(reply))
    },
  })

  api.route({
    method: 'POST',
    url: `${STEP_URL}/skip`,
    config: { ...deciding, reference: decided },
    schema: { summary: 'Skip a step', params, body: StepSkipSchema },
    handler: (request, reply) => {
      const { id, step } = request.params
      return steps.skip(
        requestedByOf(request),
        readRunId(id),
        step,
        request.body.item,
        disconnectSignal(reply),
      )
    },
  })
}

function jobStepRoutes(api: Api, steps: Administration['steps']): void {
  api.route({
    method: 'GET',
    url: '/v1/jobs/:name/steps',
    config: {
      list: true,
      ...readAccess,
      reference: { answers: { 200: 'JobStepPage' }, problems: ['job_not_found'] },
    },
    schema: {
      summary: 'List the steps of a job with statistics',
      params: NamePathSchema,
      querystring: PagingSchema,
    },
    handler: (request) =>
      steps.ofJob(projectOf(request), request.params.name, readPaging(request.query)),
  })
}

/** The token of the installation may answer every approval. */
function answererOf(request: Parameters<typeof requestedByOf>[0]) {
  const { tokenId, name: called } = request.caller
  return { ...requestedByOf(request), name: tokenId === null ? null : called }
}
