import { curlOf } from './curl.js'
import { copyable, element, inline, prose } from './element.js'
import { describe, fieldsOf, kindOf, resolve } from './schema.js'

/** One operation: a single line when closed, all details when open. */
export function showOperation(reference, entry) {
  const { method, path, operation } = entry
  const details = element(
    'details',
    { className: 'operation', id: operation.operationId },
    element(
      'summary',
      {},
      element('span', { className: `method ${method.toLowerCase()}` }, method),
      element('h3', {}, element('code', {}, ...breakable(path))),
      element('span', { className: 'summary' }, operation.summary),
    ),
  )
  // Built when it is opened: there are many, and most stay closed.
  details.addEventListener('toggle', () => {
    if (details.open && details.childElementCount === 1) details.append(bodyOf(reference, entry))
  })
  return details
}

/** Long paths break after their slashes. */
function breakable(path) {
  return path.split('/').flatMap((part, index) => (index ? ['/', element('wbr'), part] : [part]))
}

function bodyOf(reference, entry) {
  const { operation } = entry
  const content = operation.requestBody?.content['application/json']
  return element(
    'div',
    { className: 'body' },
    ...prose(operation.description),
    element('p', { className: 'note' }, ...whoMay(operation)),
    copyable(curlOf(reference, entry), `command for ${operation.summary}`),
    ...parametersOf(reference, operation),
    ...(content ? requestOf(reference, content) : []),
    ...answersOf(reference, operation),
    ...problemsOf(reference, operation),
  )
}

function whoMay(operation) {
  if (operation['x-permission'] === 'public') return ['Needs no token.']
  const scope = operation['x-everywhere'] ? ' and belongs to the whole installation' : ''
  return inline(`Needs a token that may \`${operation['x-permission']}\`${scope}.`)
}

function parametersOf(reference, { parameters }) {
  const all = parameters.map((one) => resolve(reference, one).schema)
  return ['path', 'query', 'header'].flatMap((place) => {
    const here = all.filter((one) => one.in === place)
    if (here.length === 0) return []
    return [
      element('h4', {}, TITLES[place]),
      element('dl', { className: 'fields' }, ...here.flatMap((one) => rowOf(reference, one))),
    ]
  })
}

const TITLES = { path: 'In the path', query: 'Parameters', header: 'Headers' }

function rowOf(reference, { name, required, description, schema }) {
  return [
    element(
      'dt',
      {},
      element('code', { className: 'name' }, name),
      required ? element('span', { className: 'needed' }, 'required') : '',
      element('span', { className: 'kind' }, kindOf(reference, schema)),
    ),
    element('dd', {}, ...describe(reference, { ...schema, description })),
  ]
}

function requestOf(reference, { schema, examples = {} }) {
  return [
    element('h4', {}, 'Body: ', kindOf(reference, schema)),
    fieldsOf(reference, schema),
    ...Object.values(examples).map(({ summary, value }) =>
      element(
        'details',
        { className: 'inner' },
        element('summary', {}, `example: ${summary}`),
        copyable(JSON.stringify(value, null, 2), `example: ${summary}`),
      ),
    ),
  ]
}

function answersOf(reference, { responses }) {
  const good = Object.entries(responses).filter(([, one]) => !one.$ref && one !== responses.default)
  return [
    element('h4', {}, 'Answers'),
    ...good.map(([status, { description, content = {}, headers = {} }]) => {
      const [type, { schema } = {}] = Object.entries(content)[0] ?? []
      const isJson = type === 'application/json'
      const what = isJson ? kindOf(reference, schema) : type
      const names = Object.keys(headers)
      const line = [
        element('code', { className: 'status' }, status),
        ` ${description}`,
        what ? element('span', { className: 'kind' }, ` ${what}`) : '',
        names.length > 0 ? element('span', { className: 'kind' }, ` with ${names.join(', ')}`) : '',
      ]
      if (!isJson || !resolve(reference, schema).schema.properties) return element('p', {}, ...line)
      return element(
        'details',
        { className: 'inner answer' },
        element('summary', {}, ...line),
        fieldsOf(reference, schema),
      )
    }),
  ]
}

function problemsOf(reference, operation) {
  const codes = operation['x-problems']
  if (codes.length === 0) return []
  return [
    element(
      'details',
      { className: 'inner' },
      element('summary', {}, `${codes.length} problems it may answer with`),
      element(
        'dl',
        { className: 'fields' },
        ...codes.flatMap((code) => {
          const { status, hint } = reference['x-problems'][code]
          const name = element('code', { className: 'name' }, code)
          return [
            element('dt', {}, name, element('span', { className: 'kind' }, String(status))),
            element('dd', {}, ...inline(hint)),
          ]
        }),
      ),
    ),
  ]
}
