import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { openApi } from './open-api.ts'

const FOLDER = new URL('../../src/server/reference-page/', import.meta.url)

test('the reference page is served complete, to every caller, and runs only its own code', async (t) => {
  const { call } = await openApi(t)
  const page = await call<string>('GET', '/docs/api', { token: null })
  assert.equal(page.status, 200)
  assert.match(page.headers.get('content-type') ?? '', /^text\/html/)
  assert.doesNotMatch(page.body, /<script(?![^>]*\bsrc=)|<style|\bstyle=|\bon\w+=|https?:/)
  for (const file of readdirSync(FOLDER).filter((name) => name !== 'index.html')) {
    const { status, headers, body } = await call<string>('GET', `/docs/api/${file}`, {
      token: null,
    })
    assert.equal(status, 200, file)
    assert.match(headers.get('content-security-policy') ?? '', /^default-src 'none'/, file)
    assert.match(headers.get('content-type') ?? '', /^text\/(javascript|css)/, file)
    assert.equal(body, readFileSync(new URL(file, FOLDER), 'utf8'))
  }
})

test('everything the page shows is in the reference', async (t) => {
  const { call } = await openApi(t)
  const files = readdirSync(FOLDER).filter((name) => name.endsWith('.js'))
  const source = files.map((name) => readFileSync(new URL(name, FOLDER), 'utf8')).join('\n')
  const { body } = await call<string>('GET', '/docs/api')
  for (const [, id] of source.matchAll(/getElementById\('(\w+)'\)/g)) {
    assert.ok(body.includes(`id="${id}"`), `the page has no ${id}`)
  }
  for (const [, file] of source.matchAll(/from '\.\/([\w.]+)'/g)) {
    assert.ok(files.includes(file as string), `there is no ${file}`)
  }
})
