import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { before, test } from 'node:test'
import { ERRORS } from '../../src/core/errors.ts'
import { OPENAPI_FILE, readOpenApi } from '../../tools/openapi.ts'
import { openApi } from './open-api.ts'
import {
  type Document,
  type Operation,
  operationsOf,
  resolvePointer,
  type Schema,
} from './openapi-document.ts'
import { createSchemaCheck } from './schema-check.ts'
import { schemaViolations } from './schema-violations.ts'

let text: string
let document: Document
let operations: Operation[]
before(async () => {
  text = await readOpenApi()
  document = JSON.parse(text) as Document
  operations = operationsOf(document)
})

/** Every object in a tree that has this key. */
function* havingKey(value: unknown, key: string): Generator<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return
  if (key in value) yield value as Record<string, unknown>
  for (const inner of Object.values(value)) yield* havingKey(inner, key)
}

test('the committed file is what a server serves', () => {
  const isSame = readFileSync(OPENAPI_FILE, 'utf8') === text
  assert.ok(isSame, 'docs/reference/openapi.json is out of date; run `npm run openapi`')
})

test('it names its OpenAPI version, and every reference resolves', () => {
  assert.equal(document.openapi, '3.1.0')
  const pointers = [...havingKey(document, '$ref')].map(({ $ref }) => $ref as string)
  assert.ok(pointers.length > 100, `${pointers.length} pointers`)
  for (const pointer of pointers) resolvePointer(document, pointer)
})

test('every route except the pages is an operation with its own name and chapter', async (t) => {
  const api = await openApi(t)
  const routes = api.scheduler.routes().filter(({ path }) => !/^\/((ui|docs)(\/|$)|$)/.test(path))
  const missing = routes.filter(({ docs }) => !docs).map(({ method, path }) => `${method} ${path}`)
  assert.deepEqual(missing, [], 'these routes have no docs in `config.reference`')
  assert.equal(operations.length, routes.length)
  assert.equal(new Set(operations.map(({ operationId }) => operationId)).size, operations.length)
  const chapters = document.tags.map(({ name }) => name)
  for (const { operationId, tags, summary, path } of operations) {
    assert.equal(tags.length, 1, operationId)
    assert.ok(chapters.includes(tags[0] as string), operationId)
    assert.notEqual(summary, path, `${operationId} has no summary`)
  }
  for (const chapter of chapters) {
    assert.ok(
      operations.some(({ tags }) => tags.includes(chapter)),
      `nothing stands under ${chapter}`,
    )
  }
})

test('every part of a path is a parameter, and every parameter is described', () => {
  for (const { operationId, path, parameters } of operations) {
    const parts = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
    const declared = parameters.filter((one) => one.in === 'path')
    assert.deepEqual(
      declared.map(({ name }) => name),
      parts,
      operationId,
    )
    for (const { required } of declared) assert.equal(required, true, operationId)
    for (const { name, description } of parameters) {
      assert.match(description, /^[A-Z`].*\.$/s, `${operationId}: ${name}`)
    }
    const places = parameters.map((one) => `${one.in} ${one.name}`)
    assert.equal(new Set(places).size, places.length, operationId)
  }
})

test('every operation defines its success answer', () => {
  for (const { operationId, responses } of operations) {
    const good = Object.entries(responses).filter(([status]) => status.startsWith('2'))
    assert.ok(good.length > 0, operationId)
    for (const [status, { content, description }] of good) {
      assert.equal(content === undefined, status === '204', `${operationId}: ${status}`)
      assert.ok(description, operationId)
    }
  }
})

test('every problem of an operation is a known one, under its own status', () => {
  assert.deepEqual(Object.keys(document['x-problems']), Object.keys(ERRORS))
  for (const operation of operations) {
    const { operationId, responses } = operation
    for (const code of operation['x-problems']) {
      const status = document['x-problems'][code]?.status
      assert.ok(responses[String(status)]?.description.includes(`\`${code}\``), operationId)
    }
    assert.ok(responses.default?.content?.['application/problem+json'], operationId)
  }
})

test('every schema is valid, and every field is described', () => {
  for (const [name, schema] of Object.entries(document.components.schemas)) {
    assert.deepEqual(schemaViolations(schema, name), [])
    for (const [field, property] of Object.entries(schema.properties ?? {})) {
      const { $ref, anyOf, description } = property
      const isExplained = $ref ?? anyOf ?? /^[A-Z`].*\.$/s.test(description ?? '')
      assert.ok(isExplained, `${name}.${field} is not explained: ${description}`)
    }
  }
  for (const { operationId, parameters, responses, body } of operations) {
    for (const { name, schema } of parameters) {
      assert.deepEqual(schemaViolations(schema, `${operationId} ${name}`), [])
    }
    assert.ok(body === undefined || body.$ref !== undefined, `${operationId}: a body has a name`)
    for (const { content = {} } of Object.values(responses)) {
      for (const { schema } of Object.values(content)) {
        assert.deepEqual(schemaViolations(schema, operationId), [])
      }
    }
  }
})

test('every operation has a description beyond its summary', () => {
  const silent = operations.filter(({ description = '' }) => description.trim() === '')
  assert.deepEqual(
    silent.map(({ method, path }) => `${method} ${path}`),
    [],
    'describe these in src/server/api/reference/descriptions.ts',
  )
})

test('every link leads to an operation and supplies all its path parameters', () => {
  let links = 0
  for (const { operationId, responses } of operations) {
    for (const response of Object.values(responses)) {
      for (const [name, link] of Object.entries(response.links ?? {})) {
        links += 1
        const target = operations.find((one) => one.operationId === link.operationId)
        assert.ok(target, `${operationId} links ${name} to ${link.operationId}, which is none`)
        const known = target.parameters.map((parameter) => parameter.name)
        const needed = target.path.match(/[^{]+(?=\})/g) ?? []
        for (const given of Object.keys(link.parameters)) assert.ok(known.includes(given), name)
        for (const one of needed) assert.ok(one in link.parameters, `${operationId}: ${name}`)
      }
    }
  }
  assert.ok(links > 50, `${links} links`)
})

test('event streams list their events', () => {
  const streams = operations.flatMap(({ responses, operationId }) => {
    const content = responses[200]?.content?.['text/event-stream']
    return content ? [[operationId, eventNames(content.schema)]] : []
  })
  assert.deepEqual(Object.fromEntries(streams), {
    getRunsIdLogsFollow: ['output', 'skipped', 'end'],
    getEvents: ['hello', 'run', 'run.progress', 'reset'],
  })
})

test('every named schema is used', () => {
  const used = new Set([...havingKey(document, '$ref')].map(({ $ref }) => $ref))
  for (const name of Object.keys(document.components.schemas)) {
    assert.ok(used.has(`#/components/schemas/${name}`), `nothing refers to ${name}`)
  }
})

test('every example matches its schema', () => {
  const check = createSchemaCheck(document)
  let examples = 0
  for (const { operationId, requestBody, parameters } of operations) {
    const content = requestBody?.content['application/json']
    for (const { value } of Object.values(content?.examples ?? {})) {
      examples += 1
      assert.equal(content && check(content.schema, value), undefined, operationId)
    }
    for (const parameter of parameters) {
      if (!('example' in parameter)) continue
      assert.equal(check(parameter.schema, parameter.example), undefined, parameter.name)
    }
  }
  assert.ok(examples >= 10, `${examples} examples`)
})

test('an unlisted field and a wrong type are found, so the checks above can fail', () => {
  const check = createSchemaCheck(document)
  const submitted = { $ref: '#/components/schemas/Submitted' }
  assert.equal(check(submitted, { id: 'run_00f3k9m2q7x', created: true }), undefined)
  assert.match(check(submitted, { id: 'run_00f3k9m2q7x', created: true, more: 1 }) ?? '', /more/)
  assert.match(check(submitted, { id: 'run_00f3k9m2q7x', created: 'yes' }) ?? '', /created/)
  assert.deepEqual(schemaViolations({ type: 'text', minimum: 3, maximum: 2 }, 'x'), [
    'x has the type text',
    'x has a minimum above its maximum',
  ])
})

/** The kinds of events of a stream, as the reference lists them. */
function eventNames({ contentMediaType, contentSchema }: Schema): unknown[] {
  assert.equal(contentMediaType, 'text/event-stream')
  return (contentSchema?.items?.oneOf ?? []).map(({ properties }) => properties?.['event']?.const)
}
