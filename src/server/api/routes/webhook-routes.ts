import { Type } from 'typebox'
import { parseDuration } from '../../../core/text/duration.ts'
import { PunctualError } from '../../../core/errors.ts'
import { LIMITS } from '../../../core/limits.ts'
import { WEBHOOK_EVENTS } from '../../../core/webhook/webhook.ts'
import { projectOf } from '../http/access.ts'
import type { Administration } from '../../admin/administration.ts'
import type { Api, ApiOptions } from '../http/api.ts'
import { requireNoBody } from '../http/body.ts'
import {
  duration,
  fields,
  booleanField,
  arrayOf,
  name,
  oneOf,
  boundedText,
} from '../../../core/schema/fields.ts'
import { requestedByOf, NamePathSchema, PagingSchema, readPaging } from '../http/request.ts'

const jobPattern = () =>
  Type.String({
    pattern: `^[A-Za-z0-9._*-]{1,${LIMITS.nameLength}}$`,
    description: 'the name of a job, in which * stands for any text',
  })

export const WebhookSchema = fields({
  url: boundedText(LIMITS.urlLength),
  events: arrayOf(oneOf(WEBHOOK_EVENTS), WEBHOOK_EVENTS.length, 1),
  jobs: Type.Optional(arrayOf(jobPattern(), LIMITS.webhookJobs, 1)),
  enabled: Type.Optional(booleanField()),
  secret: Type.Optional(Type.String({ description: 'whsec_ and the Base64 of 24 to 64 bytes' })),
})
export const NewWebhookSchema = fields({ name: name(), ...WebhookSchema.properties })
export const RotationSchema = fields({
  secret: WebhookSchema.properties.secret,
  keep: Type.Optional(duration()),
})

const DeliveryPath = fields({ name: name(), id: Type.String() })

/** The URL of a webhook is often a secret, so only administrators see it. */
export function webhookRoutes(api: Api, { admin }: Pick<ApiOptions, 'admin'>): void {
  collectionRoutes(api, admin.webhooks)
  definitionRoutes(api, admin.webhooks)
  deliveryRoutes(api, admin.webhooks)
}

function collectionRoutes(api: Api, webhooks: Administration['webhooks']): void {
  api.route({
    method: 'GET',
    url: '/v1/webhooks',
    config: { permission: 'administer', reference: { answers: { 200: 'WebhookList' } } },
    schema: { summary: 'List webhooks' },
    handler: async (request) => ({ data: await webhooks.list(projectOf(request)) }),
  })

  api.route({
    method: 'POST',
    url: '/v1/webhooks',
    config: {
      permission: 'administer',
      reference: {
        answers: { 201: 'CreatedWebhook' },
        problems: ['webhook_exists', 'too_many_webhooks', 'secret_key_missing'],
      },
    },
    schema: { summary: 'Create a webhook', body: NewWebhookSchema },
    handler: async (request, reply) => {
      const { name: called, ...input } = request.body
      const { webhook } = await webhooks.put(requestedByOf(request), called, input, true)
      return reply.code(201).send(webhook)
    },
  })
}

function definitionRoutes(api: Api, webhooks: Administration['webhooks']): void {
  const params = NamePathSchema

  api.route({
    method: 'GET',
    url: '/v1/webhooks/:name',
    config: {
      permission: 'administer',
      reference: { answers: { 200: 'Webhook' }, problems: ['webhook_not_found'] },
    },
    schema: { summary: 'Show a webhook', params },
    handler: (request) => webhooks.get(projectOf(request), request.params.name),
  })

  api.route({
    method: 'PUT',
    url: '/v1/webhooks/:name',
    config: {
      permission: 'administer',
      reference: {
        answers: { 201: 'CreatedWebhook', 200: 'Webhook' },
        problems: ['too_many_webhooks', 'secret_key_missing'],
      },
    },
    schema: { summary: 'Create or replace a webhook', params, body: WebhookSchema },
    handler: async (request, reply) => {
      const { name: called } = request.params
      const { isNew, webhook } = await webhooks.put(
        requestedByOf(request),
        called,
        request.body,
        false,
      )
      return reply.code(isNew ? 201 : 200).send(webhook)
    },
  })

  api.route({
    method: 'DELETE',
    url: '/v1/webhooks/:name',
    config: {
      permission: 'administer',
      reference: { answers: { 204: null }, problems: ['webhook_not_found'] },
    },
    schema: { summary: 'Delete a webhook', params },
    handler: async (request, reply) => {
      requireNoBody(request.body)
      await webhooks.remove(requestedByOf(request), request.params.name)
      return reply.code(204).send()
    },
  })

  api.route({
    method: 'POST',
    url: '/v1/webhooks/:name/rotate',
    config: {
      permission: 'administer',
      reference: {
        answers: { 200: 'CreatedWebhook' },
        problems: ['webhook_not_found', 'secret_key_missing'],
      },
    },
    schema: { summary: 'Give a webhook a new secret', params, body: RotationSchema },
    handler: (request) => {
      const { secret, keep } = request.body
      const options = { secret, keepMs: keep === undefined ? undefined : readKeep(keep) }
      return webhooks.rotate(requestedByOf(request), request.params.name, options)
    },
  })
}

function deliveryRoutes(api: Api, webhooks: Administration['webhooks']): void {
  const params = NamePathSchema

  api.route({
    method: 'POST',
    url: '/v1/webhooks/:name/test',
    config: {
      permission: 'operate',
      reference: { answers: { 201: 'Delivery' }, problems: ['webhook_not_found'] },
    },
    schema: { summary: 'Send a test message', params },
    handler: async (request, reply) => {
      requireNoBody(request.body)
      return reply.code(201).send(await webhooks.test(requestedByOf(request), request.params.name))
    },
  })

  api.route({
    method: 'GET',
    url: '/v1/webhooks/:name/deliveries',
    config: {
      list: true,
      permission: 'operate',
      reference: { answers: { 200: 'DeliveryPage' }, problems: ['webhook_not_found'] },
    },
    schema: { summary: 'List deliveries, newest first', params, querystring: PagingSchema },
    handler: (request) =>
      webhooks.deliveries(projectOf(request), request.params.name, readPaging(request.query)),
  })

  api.route({
    method: 'GET',
    url: '/v1/webhooks/:name/deliveries/:id',
    config: {
      permission: 'operate',
      reference: {
        answers: { 200: 'DeliveryDetail' },
        problems: ['webhook_not_found', 'delivery_not_found'],
      },
    },
    schema: { summary: 'Show a delivery and its message', params: DeliveryPath },
    handler: (request) => {
      const { name: called, id } = request.params
      return webhooks.delivery(projectOf(request), called, id)
    },
  })

  api.route({
    method: 'POST',
    url: '/v1/webhooks/:name/deliveries/:id/redeliver',
    config: {
      permission: 'operate',
      reference: {
        answers: { 200: 'Delivery' },
        problems: ['webhook_not_found', 'delivery_not_found'],
      },
    },
    schema: { summary: 'Redeliver a message', params: DeliveryPath },
    handler: (request) => {
      requireNoBody(request.body)
      const { name: called, id } = request.params
      return webhooks.redeliver(requestedByOf(request), called, id)
    },
  })
}

/** Bounded, or an old secret would stay valid for ever. */
function readKeep(text: string): number {
  const keepMs = parseDuration(text, 'keep')
  if (keepMs <= LIMITS.keptSecretMs) return keepMs
  throw new PunctualError('invalid_field', 'keep must be 30d at most', { field: 'keep' })
}
