/** A secret in every encoding that is masked, generated with standard tools rather than product code. */
export function encodedForms(value: string): [how: string, text: string][] {
  const bytes = Buffer.from(value)
  const component = encodeURIComponent(value)
  return [
    ['raw', value],
    ['JSON', JSON.stringify(value).slice(1, -1)],
    ['JSON of PHP', JSON.stringify(value).slice(1, -1).replaceAll('/', '\\/')],
    ['JSON of Python', JSON.stringify(value).slice(1, -1).replaceAll('é', '\\u00e9')],
    ['a URL', component],
    ['a URL in small letters', component.replace(/%../g, (code) => code.toLowerCase())],
    ['a form', new URLSearchParams({ v: value }).toString().slice(2)],
    ['base64', bytes.toString('base64')],
    ['base64 without padding', bytes.toString('base64').replaceAll('=', '')],
    ['base64 for URLs', bytes.toString('base64url')],
    ['hex', bytes.toString('hex')],
    ['hex in capitals', bytes.toString('hex').toUpperCase()],
  ]
}
