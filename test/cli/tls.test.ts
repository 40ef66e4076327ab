import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { connect as connectTls, type SecureVersion } from 'node:tls'
import { Agent } from 'undici'
import { connect } from '../../src/client/index.ts'
import { makeCertificate, skipWithoutOpenssl as skip } from '../support/certificate.ts'
import { openHome } from '../support/punctual-home.ts'
import { waitFor } from '../support/wait-for.ts'

/** A real server with a certificate that only configured clients trust. */
async function openTls(t: TestContext) {
  const home = openHome(t)
  const { cert, key } = makeCertificate(home.dir)
  const url = await home.up('--tls-cert', cert, '--tls-key', key, '--slots', '0')
  const token = readFileSync(join(home.dataDir, 'admin-token'), 'utf8').trim()
  return { ...home, cert, url, token, trusting: { NODE_EXTRA_CA_CERTS: cert } }
}

test('the command line, a worker and a client library connect over TLS', { skip }, async (t) => {
  const { run, start, url, token, cert, trusting, dataDir } = await openTls(t)
  assert.match(url, /^https:\/\/127\.0\.0\.1:\d+$/)
  const access = { ...trusting, PUNCTUAL_SERVER: url, PUNCTUAL_TOKEN: token }
  const worker = start(['worker', '--name', 'far'], access)
  await waitFor(() => worker.output.out.includes('is connected to https:'), { what: 'the worker' })
  const hi = await run(['exec', '--', 'sh', '-c', 'echo hi; exit 7'], access)
  assert.deepEqual(hi, { code: 7, out: 'hi\n', err: '' })
  const found = await run(['runs', '-o', 'json'], { ...trusting, PUNCTUAL_DATA: dataDir })
  assert.deepEqual(
    (JSON.parse(found.out) as { worker: string }[]).map((one) => one.worker),
    ['far'],
  )

  const dispatcher = new Agent({ connect: { ca: readFileSync(cert) } })
  const client = connect({ url, token, dispatcher })
  t.after(() => Promise.all([client.close(), dispatcher.close()]))
  const [answer] = await client.submit([{ job: 'hello' }])
  assert.match((await run(['show', answer?.id ?? ''], access)).out, /job +hello/)
})

const misunderstandings: [why: string, scheme: string, trusts: boolean, message: RegExp][] = [
  [
    'without TLS where it is spoken',
    ...(['http', true] as const),
    /✖ http:\S+ hung up without an answer\n  help:  If it serves HTTPS, use --server https:/,
  ],
  [
    'a certificate without a trusted issuer',
    ...(['https', false] as const),
    /✖ the certificate of \S+ is not one this machine trusts\n  help:  .*NODE_EXTRA_CA_CERTS/,
  ],
]
for (const [why, scheme, trusts, message] of misunderstandings) {
  test(`${why}: the server is not reached, and the error says what to do`, { skip }, async (t) => {
    const { run, url, token, trusting } = await openTls(t)
    const server = url.replace('https', scheme)
    const env = { PUNCTUAL_TOKEN: token, ...(trusts ? trusting : { NODE_EXTRA_CA_CERTS: '' }) }
    const { code, out, err } = await run(['--server', server, 'runs'], env)
    assert.deepEqual([code, out], [8, ''])
    assert.match(err, message)
  })
}

test('TLS to a server without it: not reached, and the error says what to do', async (t) => {
  const { run, up } = openHome(t)
  const server = (await up('--slots', '0')).replace('http', 'https')
  const { code, err } = await run(['--server', server, 'runs'])
  assert.equal(code, 8)
  assert.match(
    err,
    /not with a TLS version that this program supports\n  help:  If it serves without TLS, use --server/,
  )
})

test('TLS older than 1.2 is refused; 1.2 and 1.3 are accepted', { skip }, async (t) => {
  const { url, cert } = await openTls(t)
  const greet = async (version: SecureVersion) => {
    const socket = connectTls({
      host: '127.0.0.1',
      port: Number(new URL(url).port),
      ca: readFileSync(cert),
      minVersion: version,
      maxVersion: version,
      // Otherwise this side would refuse before the server could.
      ciphers: 'DEFAULT@SECLEVEL=0',
    })
    try {
      await once(socket, 'secureConnect')
      return socket.getProtocol()
    } finally {
      socket.destroy()
    }
  }
  for (const version of ['TLSv1.2', 'TLSv1.3'] as const) assert.equal(await greet(version), version)
  for (const version of ['TLSv1', 'TLSv1.1'] as const) {
    await assert.rejects(greet(version), { code: 'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION' })
  }
})
