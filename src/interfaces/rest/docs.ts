import { Router } from 'express';
import { dirname, join } from 'node:path';

const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Palimpsest API</title>
    <link rel="stylesheet" href="/docs/swagger-ui.css">
    <link rel="icon" href="/docs/favicon-32x32.png">
  </head>
  <body>
    <div id="api"></div>
    <script src="/docs/swagger-ui-bundle.js"></script>
    <script src="/docs/start.js"></script>
  </body>
</html>
`;

// Without a validator URL the page would ask one on the internet.
const start = `SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#api',
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  validatorUrl: null,
});
`;

const assets = ['swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png'];

/** The page inserts style attributes and data images; scripts come from this server only. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** `/docs`: the API document as a page to read and try, with nothing fetched from elsewhere. `/` leads there. */
export function docsPage(): Router {
  const router = Router();
  const folder = dirname(require.resolve('swagger-ui-dist/package.json'));
  router.get('/', (_request, response) => {
    response.locals['route'] = '/';
    response.redirect('/docs');
  });
  router.use('/docs', (_request, response, next) => {
    response.locals['route'] = '/docs';
    response.setHeader('Content-Security-Policy', contentSecurityPolicy);
    next();
  });
  router.get('/docs', (_request, response) => {
    response.type('html').send(page);
  });
  router.get('/docs/start.js', (_request, response) => {
    response.type('text/javascript').send(start);
  });
  for (const asset of assets) {
    router.get(`/docs/${asset}`, (_request, response) => response.sendFile(join(folder, asset), { maxAge: '1h' }));
  }
  return router;
}
