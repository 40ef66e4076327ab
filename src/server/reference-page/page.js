// The reference as a page: the content of /openapi.json, in the order in which a new user needs it.
import { copyable, element, prose } from './element.js'
import { showOperation } from './operation.js'

const main = document.getElementById('main')
const nav = document.getElementById('chapters')
const search = document.getElementById('search')
const found = document.getElementById('found')

/** Every operation with its search words. */
function entriesOf({ paths }) {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([name, operation]) => {
      const method = name.toUpperCase()
      const { summary, description = '', tags } = operation
      const words = [method, path, summary, description, ...tags, ...operation['x-problems']]
      return { method, path, operation, text: words.join(' ').toLowerCase() }
    }),
  )
}

function show(reference) {
  const entries = entriesOf(reference)
  const chapters = reference.tags.map(({ name, description }) => {
    const inside = entries.filter(({ operation }) => operation.tags.includes(name))
    for (const entry of inside) {
      entry.shown = showOperation(reference, entry)
      entry.link = element(
        'li',
        {},
        element('a', { href: `#${entry.operation.operationId}` }, entry.operation.summary),
      )
    }
    const id = name.toLowerCase().replaceAll(' ', '-')
    const section = element(
      'section',
      { 'aria-labelledby': id },
      element('h2', { id }, name),
      ...prose(description, 'note'),
      ...inside.map(({ shown }) => shown),
    )
    const list = element('ul', {}, ...inside.map(({ link }) => link))
    const links = element('div', {}, element('a', { href: `#${id}` }, name), list)
    return { section, links, inside }
  })
  nav.replaceChildren(...chapters.map(({ links }) => links))
  const intro = element(
    'div',
    { className: 'intro' },
    ...prose(reference.info.description),
    ...prose('Commands on this page are ready to run once the shell knows the server and a token:'),
    copyable(
      `export PUNCTUAL=${location.origin}\nexport TOKEN=$(cat .punctual/admin-token)`,
      'set-up',
    ),
    element(
      'p',
      { className: 'note' },
      `Version ${reference.info.version}. For programs: `,
      element('a', { href: '/openapi.json' }, 'openapi.json'),
    ),
  )
  main.replaceChildren(intro, ...chapters.map(({ section }) => section))
  search.addEventListener('input', () => filter(entries, chapters))
  addEventListener('hashchange', openTarget)
  openTarget()
}

/** Shows only operations that contain all the words. */
function filter(entries, chapters) {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean)
  let count = 0
  for (const { text, shown, link } of entries) {
    const isFound = words.every((word) => text.includes(word))
    shown.hidden = !isFound
    link.hidden = !isFound
    if (isFound) count += 1
  }
  for (const { section, links, inside } of chapters) {
    const isEmpty = inside.every(({ shown }) => shown.hidden)
    section.hidden = isEmpty
    links.hidden = isEmpty
  }
  found.textContent = words.length === 0 ? '' : `${count} found`
}

/** Opens the operation named in the address. */
function openTarget() {
  const target = document.getElementById(location.hash.slice(1))
  if (!target?.matches('details')) return
  target.open = true
  target.scrollIntoView()
  target.querySelector('summary').focus({ preventScroll: true })
}

addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.target.matches('input')) return
  event.preventDefault()
  search.focus()
})

try {
  const answer = await fetch('/openapi.json')
  if (!answer.ok) throw new Error(`the server said ${answer.status}`)
  show(await answer.json())
} catch (error) {
  main.replaceChildren(element('p', { role: 'alert' }, `It could not be loaded: ${error.message}`))
}
