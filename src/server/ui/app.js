// The built-in page. It reads through the same API as every other client. All text is set as text,
// never as markup: output and names of jobs are not trusted.

import { createAnsiReader, withoutAnsi } from './ansi.js'

const GLYPHS = {
  blocked: '◷',
  scheduled: '◷',
  ready: '◷',
  running: '▶',
  succeeded: '✓',
  failed: '✕',
  cancelled: '⊘',
  skipped: '⤼',
}
const REPAINT_MS = 250
const RETRY_MS = 2000
const PAGE_SIZE = 100
/** The whole of a long log is at /v1/runs/…/logs/raw; a page that keeps it all would die of it. */
const MOST_PIECES = 5000
const main = document.getElementById('main')
const search = document.getElementById('search')
let leave = new AbortController()

async function api(path, signal) {
  const token = sessionStorage.getItem('token')
  const headers = token ? { authorization: `Bearer ${token}` } : {}
  const answer = await fetch(path, { headers, signal }).catch((error) => {
    throw signal.aborted ? error : new Error('The server cannot be reached.')
  })
  if (answer.ok) return answer
  const problem = await answer.json().catch(() => ({ detail: `the server said ${answer.status}` }))
  throw Object.assign(new Error(problem.detail), { status: answer.status, hint: problem.hint })
}

function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties)
  made.append(...children)
  return made
}

function state(run) {
  return element('span', { className: run.state }, `${GLYPHS[run.state] ?? '?'} ${run.state}`)
}

function seconds(from, to) {
  if (!from) return ''
  const ms = (to ? Date.parse(to) : Date.now()) - Date.parse(from)
  return ms < 1000 ? `${ms} ms` : `${(ms / 1000).toFixed(1)} s`
}

/** Paints the list, and again whenever something happened, but not more often than people can look. */
async function showRuns(query, signal) {
  search.q.value = query
  document.title = 'Punctual'
  let isStale = true
  let wake = () => {}
  const stale = () => {
    isStale = true
    wake()
  }
  const broken = follow('/v1/events', signal, stale).then(() => {
    throw new Error('The server closed the connection.')
  })
  const paint = async () => {
    while (!signal.aborted) {
      isStale = false
      await paintRuns(query, signal)
      await new Promise((resolve) => setTimeout(resolve, REPAINT_MS))
      if (!isStale) await new Promise((resolve) => (wake = resolve))
    }
  }
  await Promise.race([broken, paint()])
}

async function paintRuns(query, signal) {
  // A filter that names a step, or a property of steps, includes the steps of workflows.
  const filter = /steps:|job:\S*\//.test(query) ? query : `${query} steps:no`
  const data = []
  // The server examines a bounded number of runs for a page: it may be short and yet continue.
  for (let cursor = ''; cursor !== null && data.length < PAGE_SIZE;) {
    const limit = PAGE_SIZE - data.length
    const url = `/v1/runs?limit=${limit}&q=${encodeURIComponent(filter)}${cursor && `&cursor=${cursor}`}`
    const page = await (await api(url, signal)).json()
    data.push(...page.data)
    cursor = page.next_cursor
  }
  if (data.length === 0) {
    const words = query
      ? `No runs match ${query}.`
      : 'No runs yet. Try: punctual exec -- echo hello'
    return main.replaceChildren(element('p', { className: 'note' }, words))
  }
  const head = ['Run', 'Job', 'State', 'Took', 'Created', 'Worker', 'By', '']
  const rows = data.map((run) =>
    element(
      'tr',
      {},
      element('td', {}, element('a', { href: `/ui/runs/${run.id}` }, run.id)),
      element('td', {}, run.job),
      element('td', {}, state(run)),
      element('td', {}, seconds(run.started_at, run.finished_at)),
      element('td', { title: run.created_at }, new Date(run.created_at).toLocaleString()),
      element('td', {}, run.worker ?? ''),
      element('td', {}, run.created_by),
      element('td', { className: 'wide' }, withoutAnsi(run.message ?? '')),
    ),
  )
  const titles = element('tr', {}, ...head.map((title) => element('th', {}, title)))
  main.replaceChildren(
    element('table', {}, element('thead', {}, titles), element('tbody', {}, ...rows)),
  )
}

/** What is too large for a list is too large for a page. */
function payload(value, bytes) {
  if (bytes !== null) return `${(bytes / 1024).toFixed(0)} KiB of JSON`
  return value === null ? null : JSON.stringify(value)
}

async function showRun(id, signal) {
  const run = await (await api(`/v1/runs/${id}`, signal)).json()
  const why = await (await api(`/v1/runs/${id}/why`, signal)).json()
  document.title = `${GLYPHS[run.state] ?? ''} ${run.job}`
  const facts = [
    ['run', run.id],
    ['job', run.job],
    ['queue', run.queue],
    ['created', new Date(run.created_at).toLocaleString()],
    ['started by', run.created_by],
    ['took', seconds(run.started_at, run.finished_at)],
    ['attempt', String(run.attempt)],
    ['worker', run.worker],
    ['exit code', run.process?.exit_code?.toString()],
    ['signal', run.process?.signal],
    ['command', run.work && JSON.stringify(run.work)],
    ['input', payload(run.input, run.input_bytes)],
    ['result', payload(run.result, run.result_bytes)],
  ]
  const list = facts
    .filter(([, value]) => value)
    .flatMap(([name, value]) => [element('dt', {}, name), element('dd', {}, value)])
  const verdict = element(
    'p',
    { className: 'verdict' },
    state(run),
    ` ${withoutAnsi(why.sentence)}`,
  )
  const log = element('pre', { ariaLabel: 'Log' })
  main.replaceChildren(verdict, element('dl', {}, ...list), log)
  const append = createLog(log)
  await follow(`/v1/runs/${id}/logs/follow`, signal, append)
  if (run.finished_at === null) await showRun(id, signal)
}

/** Reads server-sent events until there are no more. `EventSource` could not send a token. */
async function follow(path, signal, onEvent) {
  const answer = await api(path, signal)
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    text += value
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const data = /^data: (.*)$/m.exec(text.slice(0, end))?.[1]
      text = text.slice(end + 2)
      if (data) onEvent(JSON.parse(data))
    }
  }
}

/** Appends what events bring. Each stream of an attempt has colours of its own, from piece to piece. */
function createLog(log) {
  const readers = new Map()
  const readerOf = (key) => readers.get(key) ?? readers.set(key, createAnsiReader()).get(key)
  return ({ attempt, entries = [] }) => {
    const isAtEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 20
    for (const [, stream, piece] of entries) {
      log.append(...readerOf(`${attempt} ${stream}`).read(piece).map(styled(stream)))
    }
    while (log.childNodes.length > MOST_PIECES) log.firstChild.remove()
    if (isAtEnd) log.scrollTop = log.scrollHeight
  }
}

function styled(stream) {
  return ({ text, classes, color, background }) => {
    const span = element('span', { className: [stream, ...classes].join(' ') }, text)
    if (color) span.style.color = color
    if (background) span.style.backgroundColor = background
    return span
  }
}

function askForToken() {
  const field = element('input', { type: 'password', name: 'token', autocomplete: 'off' })
  const form = element('form', {}, element('p', {}, 'Paste a token to see runs and jobs.'), field)
  const hint =
    'The first start wrote one to admin-token in the data directory; `punctual token create` makes others.'
  form.append(element('p', { className: 'note' }, hint))
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    sessionStorage.setItem('token', field.value.trim())
    void show()
  })
  main.replaceChildren(form)
}

async function show() {
  leave.abort()
  leave = new AbortController()
  const { signal } = leave
  const id = /^\/ui\/runs\/(run_[0-9a-z]+)$/.exec(location.pathname)?.[1]
  const query = new URLSearchParams(location.search).get('q') ?? ''
  try {
    await (id ? showRun(id, signal) : showRuns(query, signal))
  } catch (error) {
    if (signal.aborted) return
    if (error.status === 401) return askForToken()
    const isLasting = error.status !== undefined && error.status < 500
    main.replaceChildren(
      element('p', { className: 'verdict failed' }, error.message),
      element('p', { className: 'note' }, error.hint ?? (isLasting ? '' : 'Trying again …')),
    )
    if (!isLasting) setTimeout(() => signal.aborted || show(), RETRY_MS)
  }
}

search.addEventListener('submit', (event) => {
  event.preventDefault()
  const query = search.q.value.trim()
  history.pushState(null, '', query ? `/ui?q=${encodeURIComponent(query)}` : '/ui')
  void show()
})
addEventListener('popstate', () => void show())
void show()
