/** The baseline without a database: it validates, and answers a constant. */
import { serve } from '../child-server.ts';
import { openBareRoutes } from './bare-routes.ts';
import { createdAnswer, paymentAnswer } from './constant-graph.ts';

await serve(openBareRoutes({ create: () => createdAnswer, read: () => paymentAnswer }));
