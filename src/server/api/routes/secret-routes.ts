import { Type } from 'typebox'
import { VARIABLE_NAME } from '../../../core/work/variable.ts'
import { projectOf } from '../http/access.ts'
import type { Api, ApiOptions } from '../http/api.ts'
import { requireNoBody } from '../http/body.ts'
import { fields, longText } from '../../../core/schema/fields.ts'
import { requestedByOf, PagingSchema, readPaging } from '../http/request.ts'

export const NewSecretSchema = fields({ value: longText() })

const params = fields({
  name: Type.String({
    pattern: VARIABLE_NAME.source,
    description: 'a name a variable can have: A-Z a-z 0-9 _ and no digit first',
  }),
})

/** No route ever returns the value of a secret. */
export function secretRoutes(api: Api, { admin }: Pick<ApiOptions, 'admin'>): void {
  const { secrets } = admin

  api.route({
    method: 'GET',
    url: '/v1/secrets',
    config: { permission: 'operate', reference: { answers: { 200: 'SecretPage' } } },
    schema: { summary: 'List secrets, without their values', querystring: PagingSchema },
    handler: (request) => secrets.list(projectOf(request), readPaging(request.query)),
  })

  api.route({
    method: 'PUT',
    url: '/v1/secrets/:name',
    config: {
      permission: 'administer',
      reference: {
        answers: { 201: 'Secret', 200: 'Secret' },
        problems: ['secret_key_missing'],
      },
    },
    schema: { summary: 'Set a secret', params, body: NewSecretSchema },
    handler: async (request, reply) => {
      const { name } = request.params
      const { secret, isNew } = await secrets.put(requestedByOf(request), name, request.body.value)
      return reply.code(isNew ? 201 : 200).send(secret)
    },
  })

  api.route({
    method: 'DELETE',
    url: '/v1/secrets/:name',
    config: {
      permission: 'administer',
      reference: { answers: { 204: null }, problems: ['secret_not_found'] },
    },
    schema: { summary: 'Delete a secret', params },
    handler: async (request, reply) => {
      requireNoBody(request.body)
      await secrets.remove(requestedByOf(request), request.params.name)
      return reply.code(204).send()
    },
  })

  api.route({
    method: 'GET',
    url: '/v1/secret-keys',
    config: {
      permission: 'administer',
      everywhere: true,
      reference: { answers: { 200: 'SecretKeys' } },
    },
    schema: { summary: 'List the keys that encrypt secrets' },
    handler: () => secrets.keys(),
  })

  api.route({
    method: 'POST',
    url: '/v1/secret-keys/rotate',
    config: {
      permission: 'administer',
      everywhere: true,
      reference: { answers: { 200: 'Rotation' }, problems: ['secret_key_missing'] },
    },
    schema: { summary: 'Encrypt all secrets again with the first key of the key file' },
    handler: async (request) => {
      requireNoBody(request.body)
      return secrets.rotate(requestedByOf(request))
    },
  })
}
