/** Registries as acquirers give them, and spreadsheets and old encodings as files. */
import { strToU8, zipSync } from 'fflate';
import type pg from 'pg';
import type { Merchant } from '../support/merchant.ts';

/** A sheet as spreadsheets save it: shared texts, numbers as numbers. */
export const sheetOf = (texts: readonly string[], rows: string): Buffer => {
  const xml = (body: string): Uint8Array =>
    strToU8(`<?xml version="1.0" encoding="UTF-8"?>${body}`);
  return Buffer.from(
    zipSync({
      'xl/workbook.xml': xml(
        '<workbook xmlns:r="urn:r"><sheets><sheet name="October" sheetId="1" r:id="rId7"/></sheets></workbook>',
      ),
      'xl/_rels/workbook.xml.rels': xml(
        '<Relationships><Relationship Id="rId7" Target="worksheets/sheet3.xml"/></Relationships>',
      ),
      'xl/sharedStrings.xml': xml(
        `<sst>${texts.map((text) => `<si><t>${text}</t></si>`).join('')}</sst>`,
      ),
      'xl/worksheets/sheet3.xml': xml(`<worksheet><sheetData>${rows}</sheetData></worksheet>`),
    }),
  );
};

/** A sheet of rows of texts and numbers; cells without a name follow each other. */
export const sheetOfRows = (rows: readonly (readonly (string | number)[])[]): Buffer =>
  sheetOf(
    [],
    rows
      .map((cells, index) => {
        const xml = cells.map((cell) =>
          typeof cell === 'number'
            ? `<c><f>1+1</f><v>${cell}</v></c>`
            : `<c t="inlineStr"><is><t>${cell}</t></is></c>`,
        );
        return `<row r="${index + 1}">${xml.join('')}</row>`;
      })
      .join(''),
  );

/** An archive that claims little and holds a lot. */
export const zipBomb = (): Buffer =>
  Buffer.from(zipSync({ 'xl/worksheets/sheet1.xml': new Uint8Array(40 * 1_024 * 1_024) }));

/** A Russian text in windows-1251. */
export const windows1251 = (text: string): Buffer =>
  Buffer.from(
    Array.from(text, (letter) => {
      const code = letter.charCodeAt(0);
      if (letter === '№') return 0xb9;
      return code >= 0x410 && code <= 0x44f ? code - 0x350 : code;
    }),
  );

const crlf = (lines: readonly string[]): string => lines.map((line) => `${line}\r\n`).join('');

/** YooKassa's registry of payments, with its titles and totals. */
export const yookassaPayments = (lines: readonly string[], count = lines.length): string =>
  crlf([
    'РЕЕСТР ПЛАТЕЖЕЙ ПО ДОГОВОРУ НЭК.11322.23 (152368)',
    'Дата платежей: 2001-03-01',
    'Идентификатор платежа;Сумма платежа;Валюта платежа;Сумма за вычетом комиссии и НДС;Сумма комиссии без НДС;Время платежа;Идентификатор платежного средства;Описание;Тип платежа;НДС с комиссии',
    ...lines,
    '',
    'Сумма принятых платежей: 10.00 RUB',
    'Сумма принятых платежей за вычетом комиссии и НДС: 9.57 RUB',
    `Число платежей: ${count}`,
  ]);

/** YooKassa's registry of refunds. */
export const yookassaRefunds = (lines: readonly string[]): string =>
  crlf([
    'РЕЕСТР ВОЗВРАТОВ ПО ДОГОВОРУ НЭК.11322.23 (152368)',
    'Дата возвратов: 2001-03-01',
    'Идентификатор возврата;Идентификатор платежа;Сумма возврата;Валюта возврата;Время возврата',
    ...lines,
    '',
    'Сумма возвратов: 500.00 RUB',
    `Число возвратов: ${lines.length}`,
  ]);

interface Planted {
  readonly id: string;
  readonly ref: string;
  readonly amount: number;
}

/** Writes payments of an acquirer that succeeded on 2001-03-01, and refunds of them. */
export const planterOf =
  (database: pg.Client, { id: merchantId, shopId }: Pick<Merchant, 'id' | 'shopId'>) =>
  async (connector: string, payment: Planted, refunds: readonly Planted[]): Promise<void> => {
    const at = '2001-03-01T09:00:00Z';
    await database.query(
      `insert into payment (merchant_id, id, version, public_id, shop_id, terminal_id, terminal_name, shop_name, mode, order_id, amount,
         amount_refunded, currency, method, status, bank_ref, metadata, created_at, expires_at, captured_at, finalized_at, fee, connector)
       values ($1, $2::uuid, 3, $2::uuid, $3::uuid, $3::uuid, 'T', 'S', 'test', 'planted', $4, 0, 'RUB', 'sbp', 'succeeded', $5, '{}', $6, $6, $6, $6, 0, $7)`,
      [merchantId, payment.id, shopId, payment.amount, payment.ref, at, connector],
    );
    for (const { id, ref, amount } of refunds)
      await database.query(
        `insert into refund (merchant_id, id, payment_id, shop_id, mode, amount, status, created_at, completed_at, bank_ref)
         values ($1, $2, $3, $4, 'test', $5, 'succeeded', $6, $6, $7)`,
        [merchantId, id, payment.id, shopId, amount, at, ref],
      );
  };
