// Package webhook verifies webhooks of the payment service. Copy this file into your project: it needs Go 1.19 or newer and no modules.
package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Tolerance is how old a delivery may be, and how far ahead its clock.
const Tolerance = 5 * time.Minute

var seconds = regexp.MustCompile(`^[0-9]{1,12}$`)

func sign(secret string, parts ...[]byte) []byte {
	digest := hmac.New(sha256.New, []byte(secret))
	for _, part := range parts {
		digest.Write(part)
	}
	return []byte(hex.EncodeToString(digest.Sum(nil)))
}

// Verify tells whether a delivery is genuine and fresh at the moment now. rawBody: the bytes of the body as they came, before they are parsed.
// header: X-PSP-Signature. secret: the endpoint's whole secret, whs_...
func Verify(rawBody []byte, header, secret string, tolerance time.Duration, now time.Time) bool {
	timestamp := ""
	var signatures []string
	for _, part := range strings.Split(header, ",") {
		name, value, _ := strings.Cut(part, "=")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if name == "t" && timestamp == "" {
			timestamp = value
		} else if name == "v2" {
			signatures = append(signatures, value)
		}
	}
	if !seconds.MatchString(timestamp) {
		return false
	}
	at, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || now.Sub(time.Unix(at, 0)).Abs() > tolerance {
		return false
	}
	expected := sign(secret, []byte(timestamp+"."), rawBody)
	// While a rotated secret and the new one overlap there are two of them, and either will do.
	genuine := false
	for _, signature := range signatures {
		genuine = hmac.Equal(expected, []byte(signature)) || genuine
	}
	return genuine
}

// VerifyLegacy tells whether a delivery of an endpoint marked legacy is genuine. It has no timestamp: remember the ids that you have handled. Use it
// for such endpoints alone, because a signature of this format can be made out of any v1 that was ever seen.
func VerifyLegacy(rawBody []byte, header, secret string) bool {
	return hmac.Equal(append([]byte("sha256="), sign(secret, rawBody)...), []byte(header))
}
