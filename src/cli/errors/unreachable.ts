import { connectionErrorIn } from '../../client/connection-errors.ts'
import { EXIT } from './exit-codes.ts'
import { Failure } from './failure.ts'

/**
 * The error for a server that did not answer: the reason, as far as it is known, and what to try.
 */
export function unreachable(url: string, cause: unknown): Failure {
  const { what, hint } = explain(url, connectionErrorIn(cause)?.code ?? '')
  return new Failure(what, { exitCode: EXIT.unreachable, hint, cause })
}

function explain(url: string, code: string): { what: string; hint: string } {
  const isHttps = url.startsWith('https:')
  if (isHttps && UNTRUSTED.has(code)) {
    return {
      what: `the certificate of ${url} is not one this machine trusts`,
      hint: 'Name the certificate of its CA: NODE_EXTRA_CA_CERTS=ca.pem punctual …',
    }
  }
  if (isHttps && /^(?:CERT_|ERR_TLS_CERT)/.test(code)) {
    return {
      what: `the certificate of ${url} is not good (${code})`,
      hint: 'It has expired, or is for another name; renew it, or use its name.',
    }
  }
  if (isHttps && /^(?:ERR_SSL|EPROTO)/.test(code)) {
    return {
      what: `${url} answers, but not with a TLS version that this program supports`,
      hint: `If it serves without TLS, use --server ${url.replace('https:', 'http:')}`,
    }
  }
  if (!isHttps && HUNG_UP.has(code)) {
    return {
      what: `${url} hung up without an answer`,
      hint: `If it serves HTTPS, use --server ${url.replace('http:', 'https:')}`,
    }
  }
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
    return {
      what: `the host name ${new URL(url).hostname} cannot be resolved`,
      hint: 'Check the name given with --server or PUNCTUAL_SERVER.',
    }
  }
  return {
    what: `no server answers at ${url}`,
    hint: 'Start one with `punctual up`, or name one with --server.',
  }
}

const UNTRUSTED = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
])

/** Errors from a TLS server that receives a plain request. */
const HUNG_UP = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'])
