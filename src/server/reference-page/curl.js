import { resolve } from './schema.js'

const EXAMPLES = { session: 'ses_00f3k9m2q7x', name: 'backup' }

/** A complete curl command; $PUNCTUAL and $TOKEN have to be set. */
export function curlOf(reference, { method, path, operation }) {
  const filled = path.replace(/\{(\w+)\}/g, (_, name) => exampleOf(path, name))
  const words = [`curl -s $PUNCTUAL${filled}`]
  if (method === 'GET' && isStream(operation)) words[0] += ' -N'
  if (method !== 'GET' && !(method === 'POST' && operation.requestBody)) words[0] += ` -X ${method}`
  if (operation.security?.length !== 0) words.push('-H "Authorization: Bearer $TOKEN"')
  const body = exampleBody(reference, operation)
  if (body !== undefined) {
    words.push(`-H 'Content-Type: application/json'`)
    words.push(`-d '${JSON.stringify(body).replaceAll("'", `'\\''`)}'`)
  }
  return words.join(' \\\n  ')
}

function exampleOf(path, name) {
  if (name === 'id') return path.startsWith('/v1/tokens') ? 'tok_1' : 'run_00f3k9m2q7x'
  return path.startsWith('/v1/queues') ? 'mail' : (EXAMPLES[name] ?? name)
}

function isStream({ responses }) {
  return responses[200]?.content?.['text/event-stream'] !== undefined
}

/** The first example, or a minimal body. */
function exampleBody(reference, { requestBody }) {
  const content = requestBody?.content['application/json']
  if (!content) return undefined
  const [example] = Object.values(content.examples ?? {})
  return example ? example.value : smallest(reference, content.schema)
}

function smallest(reference, pointer) {
  const { schema } = resolve(reference, pointer)
  if (schema.enum) return schema.enum[0]
  switch (schema.type) {
    case 'object':
      return Object.fromEntries(
        (schema.required ?? []).map((name) => [name, smallest(reference, schema.properties[name])]),
      )
    case 'array':
      return schema.minItems ? [smallest(reference, schema.items ?? {})] : []
    case 'integer':
      return schema.minimum ?? 0
    case 'boolean':
      return true
    case 'string':
      return schema.pattern?.startsWith('^run_') ? 'run_00f3k9m2q7x' : 'a'
    default:
      return 1
  }
}
