import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { openApi, ROOT_TOKEN } from '../api/open-api.ts'
import { waitFor } from '../support/wait-for.ts'

// The page is JavaScript, which browsers run as it is.
const PAGE = join(import.meta.dirname, '../../src/server/ui/app.js')

/** The parts of a browser element that the page uses. */
class FakeElement {
  readonly style: Record<string, string> = {}
  readonly name: string
  childNodes: (FakeElement | string)[] = []
  className = ''
  scrollTop = 0
  readonly scrollHeight = 0
  readonly clientHeight = 0

  constructor(name: string) {
    this.name = name
  }

  append(...children: (FakeElement | string)[]): void {
    this.childNodes.push(...children)
  }

  replaceChildren(...children: (FakeElement | string)[]): void {
    this.childNodes = children
  }

  addEventListener(): void {}

  get text(): string {
    return this.childNodes.map((one) => (typeof one === 'string' ? one : one.text)).join('')
  }

  all(name: string): FakeElement[] {
    const elements = this.childNodes.filter((one) => one instanceof FakeElement)
    return elements.flatMap((one) => [...(one.name === name ? [one] : []), ...one.all(name)])
  }
}

const main = new FakeElement('main')
const search = Object.assign(new FakeElement('form'), { q: { value: '' } })
const location = { pathname: '/ui', search: '' }
const events = new Map<string, () => void>()
const endings: (() => void | Promise<void>)[] = []
const api = await openApi({
  after: (end: () => Promise<void>) => void endings.push(end),
  diagnostic() {},
} as never)
const { fetch } = globalThis
Object.assign(globalThis, {
  document: {
    title: '',
    getElementById: (id: string) => (id === 'main' ? main : search),
    createElement: (name: string) => new FakeElement(name),
  },
  location,
  addEventListener: (name: string, listener: () => void) => events.set(name, listener),
  fetch: (path: string, options: RequestInit) => fetch(new URL(path, api.url), options),
})
Object.defineProperty(globalThis, 'sessionStorage', { value: { getItem: () => ROOT_TOKEN } })
after(async () => {
  try {
    // A new page aborts the requests of the previous one; for a missing run it makes no further requests.
    await open('/ui/runs/run_00000000000')
    const hasEnded = () => main.all('p')[0]?.className === 'verdict failed'
    await waitFor(hasEnded, { what: 'the end of the page' })
  } finally {
    for (const end of endings.toReversed()) await end()
  }
})

async function open(pathname: string): Promise<void> {
  location.pathname = pathname
  if (events.size === 0) await import(PAGE)
  else events.get('popstate')?.()
}

test('the page of a run shows what started it, and the colours of its log', async () => {
  await api.startWorker()
  const argv = ['printf', String.raw`plain \033[31mred\033[0m`]
  const { body } = await api.call<{ id: string }>('POST', '/v1/runs', { body: { argv } })
  await open('/ui')
  await waitFor(() => main.all('tr').length > 1, { what: 'the list' })
  const [head = [], row = []] = main.all('tr').map((one) => one.childNodes as FakeElement[])
  const column = head.findIndex((one) => one.text === 'By')
  assert.equal(row[column]?.text, 'root')

  await open(`/ui/runs/${body.id}`)
  await waitFor(() => main.all('pre')[0]?.text === 'plain red', { what: 'the log' })
  const pieces = main.all('pre')[0]?.all('span') ?? []
  assert.deepEqual(
    pieces.map(({ className, text }) => [className.trim(), text]),
    [
      ['stdout', 'plain '],
      ['stdout front-1', 'red'],
    ],
  )
  const names = main.all('dt').map(({ text }) => text)
  assert.equal(main.all('dd')[names.indexOf('started by')]?.text, 'root')
})
