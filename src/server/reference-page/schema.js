import { element, inline } from './element.js'

/** Resolves `#/components/schemas/Run` to the schema and its name. */
export function resolve(reference, schema) {
  if (!schema?.$ref) return { schema: schema ?? {}, name: undefined }
  const path = schema.$ref.replace(/^#\//, '').split('/')
  const found = path.reduce((place, part) => place?.[part], reference)
  return { schema: found ?? {}, name: path.at(-1) }
}

/** The kind of a value in a few words: `list of Run`, `text or null`. */
export function kindOf(reference, pointer) {
  const { schema, name } = resolve(reference, pointer)
  if (name) return name
  const choices = schema.anyOf ?? schema.oneOf
  if (choices) return choices.map((one) => kindOf(reference, one)).join(' or ')
  if (schema.type === 'array') {
    return schema.items ? `list of ${kindOf(reference, schema.items)}` : 'list'
  }
  const words = [schema.type ?? 'any JSON'].flat().map((type) => WORDS[type] ?? type)
  if (schema.format === 'date-time') words[0] = 'time'
  return words.join(' or ')
}

const WORDS = { string: 'text', integer: 'whole number', boolean: 'true or false' }

/** One row per field; nested objects unfold. */
export function fieldsOf(reference, pointer, depth = 0) {
  const { properties = {}, required = [] } = objectIn(reference, pointer)
  return element(
    'dl',
    { className: 'fields' },
    ...Object.entries(properties).flatMap(([name, property]) => [
      element(
        'dt',
        {},
        element('code', { className: 'name' }, name),
        required.includes(name) ? element('span', { className: 'needed' }, 'required') : '',
        element('span', { className: 'kind' }, kindOf(reference, property)),
      ),
      element('dd', {}, ...describe(reference, property), ...unfold(reference, property, depth)),
    ]),
  )
}

export function describe(reference, pointer) {
  const { schema } = resolve(reference, pointer)
  const description = pointer.description ?? schema.description ?? ''
  const words = schema.enum?.filter((word) => word !== null)
  const isSaid = words?.every((word) => description.includes(word))
  return [
    ...inline(description),
    ...(words && !isSaid
      ? [' One of ', ...inline(words.map((w) => `\`${w}\``).join(', ')), '.']
      : []),
  ]
}

function unfold(reference, pointer, depth) {
  const choices = pointer.oneOf ?? pointer.anyOf ?? resolve(reference, pointer).schema.oneOf ?? []
  const inner = [pointer, pointer.items, ...choices, ...choices.map(({ items }) => items)]
    .filter(Boolean)
    .filter((one) => objectIn(reference, one).properties)
  if (depth > 3) return []
  return inner.map((one) =>
    element(
      'details',
      { className: 'inner' },
      element('summary', {}, `fields of ${nameOf(reference, one)}`),
      fieldsOf(reference, one, depth + 1),
    ),
  )
}

function nameOf(reference, pointer) {
  const { schema, name } = resolve(reference, pointer)
  return name ?? schema.properties?.executor?.const ?? 'it'
}

function objectIn(reference, pointer) {
  return resolve(reference, pointer).schema
}
