/* outer /* inner */ still */
// a /* b
"/* not */" '*'
