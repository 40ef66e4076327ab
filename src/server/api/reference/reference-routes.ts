import type { Api } from '../http/api.ts'
import { sendPageFile } from '../http/page-file.ts'
import type { Route } from '../http/route-table.ts'

const FILES = ['page.js', 'element.js', 'operation.js', 'schema.js', 'curl.js', 'style.css']

/** The OpenAPI document, and a page that shows it. */
export function referenceRoutes(api: Api, routes: readonly Route[], version: string): void {
  // Generated for the first request: most servers are never asked.
  let made: Promise<string> | undefined

  api.route({
    method: 'GET',
    url: '/openapi.json',
    config: { permission: 'public', reference: { answers: { 200: 'OpenApi' } } },
    schema: { summary: 'This reference as OpenAPI' },
    handler: async (_request, reply) => {
      made ??= write(routes, version)
      return reply.type('application/json; charset=utf-8').send(await made)
    },
  })

  let jobSchema: Promise<string> | undefined

  api.route({
    method: 'GET',
    url: '/schema/v1/job.json',
    config: { permission: 'public', reference: { answers: { 200: 'JobFileSchema' } } },
    schema: { summary: 'The JSON Schema of job files, for editors' },
    handler: async (_request, reply) => {
      jobSchema ??= writeJobSchema()
      return reply.type('application/json; charset=utf-8').send(await jobSchema)
    },
  })

  const serve = (url: string, file: string) => {
    api.route({
      method: 'GET',
      url,
      config: { permission: 'public' },
      schema: { summary: 'The reference as a page' },
      handler: (_request, reply) => sendPageFile(reply, `reference-page/${file}`),
    })
  }
  serve('/docs/api', 'index.html')
  for (const file of FILES) serve(`/docs/api/${file}`, file)
}

async function write(routes: readonly Route[], version: string): Promise<string> {
  const { openApiOf } = await import('./openapi.ts')
  return JSON.stringify(openApiOf(routes, version))
}

async function writeJobSchema(): Promise<string> {
  const { jobFileSchema } = await import('../../../core/schema/json-schema.ts')
  return JSON.stringify(jobFileSchema())
}
